// SPDX-License-Identifier: BSD-3-Clause
// A type-erased interface to a program that consists of objects. With it, a runtime and the program
// can be compiled with different C++ standards: the headers of Charm++ 6.10 need C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace poise::miniapps {

using Bytes = std::vector<char>;

/// A message that an object receives.
struct Letter {
  std::uint32_t from;    // id of the sender
  std::uint32_t number;  // position of the message among those that the sender sent in this step
  Bytes bytes;
};

class HiddenObject {
 public:
  virtual ~HiddenObject() = default;
  /// A function that sends `count` bytes to the object with the id `to`.
  using Send = std::function<void(std::uint32_t to, const char* bytes, std::size_t count)>;
  /// Runs a step of the object. `letters` are the messages that the object receives, sorted by
  /// sender and number. Calls `send` for each receiver of each message that the object sends.
  /// Throws what the object throws.
  virtual void step(const std::vector<Letter>& letters, const Send& send) = 0;
  /// Returns the serialized object, which HiddenProgram::restored() can read.
  virtual Bytes bytes() const = 0;
  /// Returns the values that this object adds to the sums of the program, serialized for
  /// HiddenProgram::results().
  virtual Bytes value() const = 0;
};

class HiddenProgram {
 public:
  virtual ~HiddenProgram() = default;
  virtual const char* name() const = 0;
  virtual std::uint32_t num_objects() const = 0;
  virtual std::uint64_t iterations() const = 0;
  virtual std::uint64_t steps() const = 0;  // over all iterations
  virtual std::unique_ptr<HiddenObject> object(std::uint32_t id) const = 0;
  virtual std::unique_ptr<HiddenObject> restored(const Bytes& bytes) const = 0;
  /// Returns for each object, by id, the place where it starts.
  virtual std::vector<int> start(int num_places) const = 0;
  /// Checks the results. For each object, by id, `first` holds the value before the first step, and
  /// `last` the value after the last step. Returns the line with the checksum; throws
  /// std::exception if the results are wrong.
  virtual std::string results(const std::vector<Bytes>& first,
                              const std::vector<Bytes>& last) const = 0;
};

/// Either a program that is ready to run, or an exit status and a text to print (to stdout if the
/// status is 0, otherwise to stderr).
struct Asked {
  std::unique_ptr<const HiddenProgram> program;
  int status = 0;
  std::string text;
};

/// Parses the command line without the program's name. Every program defines this function.
Asked asked_for(const std::vector<std::string>& arguments);

}  // namespace poise::miniapps
