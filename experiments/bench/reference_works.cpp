#include <cstring>
#include <memory>

#include "experiments/bench/huge_array.h"
#include "experiments/bench/reference_kernels.h"
#include "experiments/bench/works.h"

namespace halfulp {
namespace {

/// A kernel that works in place: f(numbers, count) on a copy of the input.
template <class F>
std::function<PreparedWork(const Bench&)> in_place(F f) {
  return [f](const Bench& bench) {
    const auto x = std::make_shared<HugeArray<float>>(bench.elements());
    return PreparedWork{
        [x, f, bench] {
          for_each_part(bench, [&](std::size_t first, std::size_t count) { f(x->data() + first, count); });
        },
        [x, bench] { std::memcpy(x->data(), bench.normal.data(), bench.normal.size_bytes()); }};
  };
}

/// One that writes elsewhere: f(input, output, count).
template <class F>
std::function<PreparedWork(const Bench&)> out_of_place(F f) {
  return [f](const Bench& bench) {
    const auto out = std::make_shared<HugeArray<float>>(bench.elements());
    return PreparedWork{[out, f, bench] {
      for_each_part(bench, [&](std::size_t first, std::size_t count) {
        f(bench.normal.data() + first, out->data() + first, count);
      });
    }};
  };
}

}  // namespace

std::vector<Work> reference_works() {
  return {
      {.name = rmw,
       .what = "f32 in place, sign flipped; ordinary stores, no prefetch",
       .bytes_read = 4,
       .bytes_written = 4,
       .reference = "",
       .prepare = in_place(read_modify_write)},
      {.name = "read-modify-write prefetched",
       .what = "the same with software prefetch, L1 2 KiB and L2 8 KiB ahead",
       .bytes_read = 4,
       .bytes_written = 4,
       .reference = rmw,
       .prepare = in_place(read_modify_write_with_prefetch)},
      {.name = pure_read,
       .what = "f32 loaded, their bits joined by exclusive or",
       .bytes_read = 4,
       .bytes_written = 0,
       .reference = "",
       .prepare = in_place([](const float* x, std::size_t count) { keep(read_all(x, count)); })},
      {.name = streaming_write,
       .what = "one f32 stored everywhere, past the caches",
       .bytes_read = 0,
       .bytes_written = 4,
       .reference = "",
       .prepare = in_place([](float* x, std::size_t count) { write_past_caches(x, 1, count); })},
      {.name = streaming_copy,
       .what = "f32 loaded, stored elsewhere past the caches",
       .bytes_read = 4,
       .bytes_written = 4,
       .reference = "",
       .prepare = out_of_place(copy_past_caches)},
      {.name = "memcpy",
       .what = "the C library's, of f32; the size decides whether it stores past the caches",
       .bytes_read = 4,
       .bytes_written = 4,
       .reference = streaming_copy,
       .prepare = out_of_place([](const float* from, float* to, std::size_t count) {
         std::memcpy(to, from, count * sizeof *to);
         keep(to);
       })},
  };
}

}  // namespace halfulp
