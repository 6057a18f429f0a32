// SPDX-License-Identifier: BSD-3-Clause
// Ends the job when an object throws.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <mpi.h>
#include <string>

#include "runtimes/objects/mail.h"

namespace poise::objects {

/// The reason to report if an object throws something that is not a std::exception.
inline constexpr const char* kUnknownException = "it threw something that is not a std::exception";

/// Returns the text of an object's exception. If that text is empty, returns a text that says so.
inline std::string reason_of(const std::exception& exception) {
  const std::string text = exception.what();
  return text.empty() ? "it threw an exception without a text" : text;
}

/// Ends the job if an object throws an exception, because the run cannot continue without this
/// object. One line on stderr names the object, the step, the rank and the reason. MPI_Abort ends
/// all ranks.
class ObjectGuard {
 public:
  /// `steps` is the number of completed steps. The guard keeps a reference to `steps`, because
  /// error messages contain the number at the time of the error.
  ObjectGuard(MPI_Comm comm, std::string collection, const std::uint64_t& steps)
      : comm_(comm), collection_(std::move(collection)), steps_(steps) {}

  /// Runs code on behalf of an object. Ends the job if the code throws.
  void run(ObjectId id, const std::function<void()>& work) const;
  /// Ends the job, because an object has failed. `reason` says why.
  [[noreturn]] void abort(ObjectId id, const std::string& reason) const;

 private:
  MPI_Comm comm_;
  std::string collection_;  // name of the collection, for the message
  const std::uint64_t& steps_;
};

}  // namespace poise::objects
