// One thread of a rank: its clocks, its log, and the mail its objects write.
#pragma once

#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "runtimes/objects/engine.h"

namespace poise::objects {

inline double wall_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double cpu_now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class alignas(128) Engine::Thread final : public Routes {
 public:
  explicit Thread(const Engine& engine)
      : engine_(engine), parcels_(static_cast<std::size_t>(engine.world_.num_ranks)) {}

  Buffer& buffer_for(ObjectId to) override {
    if (to >= engine_.num_objects())
      fail("it sent a message to object {}; there are {}", to, engine_.num_objects());
    return parcels_[static_cast<std::size_t>(engine_.rank_of(to))].open();
  }
  void note(ObjectId from, ObjectId to, std::uint64_t bytes) override {
    log->message(from, to, bytes);
  }

  /// At the head of a step, on the thread itself.
  void begin() {
    cpu_s = cpu_now_s();
    wall_s = wall_now_s();
  }

  std::vector<Parcel>& parcels() { return parcels_; }

  Recorder::Log* log = nullptr;
  double cpu_s = 0, wall_s = 0;            // when its last object ended
  double busy_cpu_s = 0, busy_wall_s = 0;  // in this step
  ObjectId failed = 0;
  std::string failure;  // of the first object that threw

 private:
  const Engine& engine_;
  std::vector<Parcel> parcels_;
};

}  // namespace poise::objects
