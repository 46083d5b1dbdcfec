#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halfulp {

/// A fixed number of threads that share index ranges. Which thread handles which index is fixed by the count
/// of each alone, and every thread, the caller's too, computes in FpEnvironment; results that depend only on
/// the index are therefore the same for any number of threads.
class ThreadPool {
 public:
  /// threads: how many work on a call, the caller's thread among them; 1 starts none.
  /// errors: throws Error on 0, std::system_error where the system has no more threads
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const noexcept { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls f(begin, end) once for each of at most threads() contiguous ranges, which together cover [0,
  /// count). A call from inside f, or while another thread's call runs, is handled by its own thread alone.
  /// errors: if calls of f throw, the exception of the lowest range is rethrown after all ranges have ended
  void for_each_range(std::size_t count, const std::function<void(std::size_t, std::size_t)>& f);

  /// Calls f(i) exactly once for every i < count, ascending within a contiguous range for each thread.
  /// errors: as for_each_range; the rest of a range whose f threw is not handled
  template <class F>
  void for_each_index(std::size_t count, F f) {
    for_each_range(count, [&f](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) f(i);
    });
  }

 private:
  using Range = std::function<void(std::size_t, std::size_t)>;

  void stop();
  void work(std::size_t part);
  void run_part(const Range& f, std::size_t count, std::size_t part) noexcept;

  std::vector<std::exception_ptr> thrown_;  // one a part
  std::atomic<bool> busy_ = false;          // a call has the workers; no mutex, since a nested call asks too
  std::mutex state_;                        // guards what follows
  std::condition_variable start_, finish_;
  const Range* task_ = nullptr;
  std::size_t count_ = 0;
  std::size_t unfinished_ = 0;
  std::uint64_t generation_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace halfulp
