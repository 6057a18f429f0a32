// SPDX-License-Identifier: BSD-3-Clause
// Delivers the messages of a step: between the threads of a rank, and between ranks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/messenger.h"
#include "runtimes/objects/object_directory.h"
#include "runtimes/objects/worker.h"

namespace poise::objects {

/// Owns the buffers to which the inboxes refer. Messages between objects of one rank are not
/// copied.
class MessageExchange {
 public:
  explicit MessageExchange(Messenger& messenger) : messenger_(messenger) {}

  struct Times {
    double wait_s = 0;     // wall time of the exchange with other ranks
    double deliver_s = 0;  // CPU time to fill the inboxes
  };

  /// Exchanges what the workers' objects sent, and fills the inboxes in order of sender. Messages
  /// that went to the homes of their receivers are passed on, and the directory learns where these
  /// receivers are. Collective.
  Times exchange(std::span<const std::unique_ptr<Worker>> workers, LocalObjects& objects,
                 ObjectDirectory& directory);

  /// Keeps a buffer until the next exchange, because inboxes refer to it.
  void keep(MessageBuffer buffer) { kept_.push_back(std::move(buffer)); }

 private:
  std::vector<MessageBuffer> collect(std::span<const std::unique_ptr<Worker>> workers,
                                     const JobLayout& layout);
  void exchange_with_ranks(std::span<const std::unique_ptr<Worker>> workers, LocalObjects& objects,
                           ObjectDirectory& directory, std::vector<MessageBuffer>& outgoing);
  void pass_on(const std::vector<Messenger::Received>& received, LocalObjects& objects,
               ObjectDirectory& directory);

  Messenger& messenger_;
  std::vector<MessageBuffer> kept_;  // one buffer per worker, then the buffers from other ranks
};

}  // namespace poise::objects
