#include "emulation/parallel.h"

#include "emulation/fp_environment.h"
#include "formats/error.h"

namespace halfulp {

ThreadPool::ThreadPool(unsigned threads) {
  if (threads == 0) throw Error("threads", "nobody would do the work", "0", "1 or more");
  thrown_.resize(threads);
  workers_.reserve(threads - 1);
  try {
    for (std::size_t part = 1; part < threads; ++part) workers_.emplace_back([this, part] { work(part); });
  } catch (...) {  // the system has no more threads; those that started must be joined
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(state_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::for_each_range(std::size_t count, const Range& f) {
  if (count == 0) return;
  if (workers_.empty() || count == 1 || busy_.exchange(true)) {
    const FpEnvironment environment;
    f(0, count);
    return;
  }
  {
    const std::lock_guard lock(state_);
    task_ = &f;
    count_ = count;
    unfinished_ = workers_.size();
    ++generation_;
  }
  start_.notify_all();
  run_part(f, count, 0);
  {
    std::unique_lock lock(state_);
    finish_.wait(lock, [this] { return unfinished_ == 0; });
  }
  std::exception_ptr first;
  for (std::exception_ptr& thrown : thrown_) {
    if (!first) first = thrown;
    thrown = nullptr;
  }
  busy_.store(false);
  if (first) std::rethrow_exception(first);
}

void ThreadPool::work(std::size_t part) {
  std::uint64_t seen = 0;
  for (;;) {
    const Range* task;
    std::size_t count;
    {
      std::unique_lock lock(state_);
      start_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      task = task_;
      count = count_;
    }
    run_part(*task, count, part);
    const std::lock_guard lock(state_);
    if (--unfinished_ == 0) finish_.notify_one();
  }
}

void ThreadPool::run_part(const Range& f, std::size_t count, std::size_t part) noexcept {
  const FpEnvironment environment;
  // count = quotient * parts + rest: the first `rest` parts take one index more, and nothing can overflow
  const std::size_t parts = thrown_.size(), quotient = count / parts, rest = count % parts;
  const std::size_t begin = part * quotient + (part < rest ? part : rest);
  const std::size_t end = begin + quotient + (part < rest ? 1 : 0);
  if (begin == end) return;
  try {
    f(begin, end);
  } catch (...) {
    thrown_[part] = std::current_exception();
  }
}

}  // namespace halfulp
