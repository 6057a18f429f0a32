// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a task in a message. Pure: nothing is sent, and no shared memory is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtimes/tasks/pool/task.h"
#include "runtimes/tasks/transport/bytes.h"

namespace poise::tasks {

/// True if data are sent as a payload instead of in the header of `header_bytes` bytes: because
/// they are large, or because the header would become longer than MPI can count.
bool travels_as_payload(std::size_t bytes, std::size_t header_bytes, std::size_t large_bytes);

/// Appends a task to a message to a rank that does not own the task. spots[i] is the location in
/// shared memory of item i (an argument or result); items without a location, or beyond the end of
/// `spots`, are sent. Items that become payloads are appended to `payloads`. Returns how many bytes
/// the message and its payloads carry.
std::size_t write_task(Writer& header, const Task& task, std::span<const std::optional<Spot>> spots,
                       std::size_t large_bytes, std::vector<Payload>& payloads);
/// Appends a task to a message to its owner, without items, because the owner still has them.
void write_returned_task(Writer& header, const Task& task);

/// A task as it is found in a message.
struct ArrivedTask {
  struct InPlace {
    std::size_t item = 0;
    Spot spot;
  };
  std::uint64_t slot = 0;
  std::unique_ptr<Task> task;     // null if the reader owns the task
  std::vector<InPlace> in_place;  // items whose addresses the caller has to set
  std::vector<Payload> payloads;  // memory of the task into which the payloads are to be received
};

/// Reads the next task of a message to rank `self`. Small data items stay in the memory of the
/// message, which `message` keeps alive.
ArrivedTask read_task(Reader& reader, std::uint32_t self, std::shared_ptr<std::byte> message);

}  // namespace poise::tasks
