// SPDX-License-Identifier: BSD-3-Clause
// The interface through which the engine handles objects without knowing their type.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtimes/objects/mail.h"
#include "runtimes/objects/measurements.h"

namespace poise::objects {

class AnyObject {
 public:
  virtual ~AnyObject() = default;
  virtual void step(const Inbox& inbox, Outbox& outbox) = 0;
  /// The size of the serialized object, in bytes.
  virtual std::size_t bytes() const = 0;
  virtual void write(Buffer& buffer) const = 0;
  /// Stores in `row` the object's position, and whether it may move, if the object's type provides
  /// them.
  virtual void describe(ObjectRow& row) const = 0;
  /// The object's heap memory. If the object's rank moves to another NUMA domain, the pages of this
  /// memory move there, too. Empty unless the object's type has a function memory().
  virtual std::vector<std::span<std::byte>> memory() { return {}; }
};

/// Creates objects: at the start from their id, and after a migration from their serialized form.
struct ObjectFactory {
  std::function<std::unique_ptr<AnyObject>(ObjectId)> create;
  std::function<std::unique_ptr<AnyObject>(std::span<const std::byte>)> restore;
};

}  // namespace poise::objects
