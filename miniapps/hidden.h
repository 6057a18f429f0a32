// A program on objects behind an interface that hides its types, for a host that is compiled as
// another C++ than the program: Charm++ 6.10's headers want C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace poise::miniapps {

using Bytes = std::vector<char>;

/// A message in an object's box: the number-th that this sender sent in its step.
struct Letter {
  std::uint32_t from, number;
  Bytes bytes;
};

class HiddenObject {
 public:
  virtual ~HiddenObject() = default;
  /// A step with the letters in order of sender and number. send(to, bytes, their number) is called
  /// for each message to each receiver. Throws what the object throws.
  using Send = std::function<void(std::uint32_t, const char*, std::size_t)>;
  virtual void step(const std::vector<Letter>& letters, const Send& send) = 0;
  /// All of it, for HiddenProgram::restored.
  virtual Bytes bytes() const = 0;
  /// What the program sums up, for HiddenProgram::results.
  virtual Bytes value() const = 0;
};

class HiddenProgram {
 public:
  virtual ~HiddenProgram() = default;
  virtual const char* name() const = 0;
  virtual std::uint32_t num_objects() const = 0;
  virtual std::uint64_t iterations() const = 0;
  virtual std::uint64_t steps() const = 0;  // of the objects, for all iterations
  virtual std::unique_ptr<HiddenObject> object(std::uint32_t id) const = 0;
  virtual std::unique_ptr<HiddenObject> restored(const Bytes& bytes) const = 0;
  /// The place where each object starts.
  virtual std::vector<int> start(int num_places) const = 0;
  /// Checks the values before the first step and after the last, by id; the line with the checksum.
  /// Throws std::exception when they are wrong.
  virtual std::string results(const std::vector<Bytes>& first,
                              const std::vector<Bytes>& last) const = 0;
};

/// A program, or why there is none: an exit status and what to say, on stdout where it is 0.
struct Asked {
  std::unique_ptr<const HiddenProgram> program;
  int status = 0;
  std::string text;
};

/// What the user's arguments, without the command's name, ask for. Each program defines it.
Asked asked_for(const std::vector<std::string>& arguments);

}  // namespace poise::miniapps
