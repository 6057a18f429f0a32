// SPDX-License-Identifier: BSD-3-Clause
// A library for a test of the preloaded library. While the loader loads it, its constructor starts
// a thread that waits on a semaphore, and joins this thread.
#include <semaphore.h>
#include <thread>

namespace {

__attribute__((constructor)) void run_thread() {
  sem_t semaphore;
  ::sem_init(&semaphore, 0, 0);
  std::thread thread([&semaphore] { ::sem_wait(&semaphore); });
  ::sem_post(&semaphore);
  thread.join();
}

}  // namespace
