// SPDX-License-Identifier: BSD-3-Clause
// One thread of a rank: the time it spends in objects, and the messages that its objects send.
#pragma once

#include <string>
#include <vector>

#include "runtimes/objects/messenger.h"
#include "runtimes/objects/object_directory.h"

#include "poise/base/clock.h"
#include "poise/workload/recorder.h"

namespace poise::objects {

/// During a step, each worker is used only by its own thread. A worker is aligned to two cache
/// lines, because processors fetch adjacent lines in pairs.
class alignas(128) Worker final : public MessageRouter {
 public:
  explicit Worker(const ObjectDirectory& directory)
      : directory_(directory), outgoing_(directory.layout().num_ranks) {}

  Buffer& buffer_for(ObjectId to) override {
    directory_.check_receiver(to);
    return outgoing_[directory_.find(to).rank].open();
  }
  void note(ObjectId from, ObjectId to, std::uint64_t bytes) override {
    if (directory_.ghosts() != nullptr && !directory_.find(to).is_known)
      sent_to_homes.push_back(to);
    log->message(from, to, bytes);
  }

  /// Starts the clocks. Called by the thread itself at the start of a step.
  void begin() {
    cpu_s = thread_cpu_now_s();
    wall_s = wall_now_s();
  }

  /// The messages sent in this step, by destination rank.
  std::vector<MessageBuffer>& outgoing() { return outgoing_; }

  Recorder::Log* log = nullptr;
  double cpu_s = 0, wall_s = 0;            // the thread's clocks after it last ran a step
  double busy_cpu_s = 0, busy_wall_s = 0;  // time in objects in this step
  ObjectId failed = 0;                     // the first object that threw
  std::string failure;                  // the error text of that object; empty if no object threw
  std::vector<ObjectId> sent_to_homes;  // receivers whose rank was not known, one per message

 private:
  const ObjectDirectory& directory_;
  std::vector<MessageBuffer> outgoing_;
};

}  // namespace poise::objects
