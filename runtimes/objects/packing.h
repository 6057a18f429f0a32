// SPDX-License-Identifier: BSD-3-Clause
// Packs objects together with their unread messages, for migration and offloading.
#pragma once

#include <functional>
#include <span>

#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/object_guard.h"

namespace poise::objects {

class ObjectPacker {
 public:
  /// `factory` and `guard` must outlive the packer.
  ObjectPacker(const ObjectFactory& factory, const ObjectGuard& guard)
      : factory_(factory), guard_(guard) {}

  /// Appends an object together with the messages in its inbox.
  void pack(const LocalObject& object, Buffer& buffer) const;
  /// Appends an object, followed by the messages that the function `append_messages` writes to the
  /// buffer.
  void pack(const LocalObject& object, Buffer& buffer,
            const std::function<void(Buffer&)>& append_messages) const;

  /// Removes the first object from `bytes` and restores it without its inbox. Returns the bytes of
  /// the messages that were packed with it.
  std::span<const std::byte> unpack(std::span<const std::byte>& bytes, LocalObject& object) const;
  /// Like unpack, but also restores the inbox, whose messages stay in `bytes`. Returns true if the
  /// inbox has messages.
  bool unpack_with_inbox(std::span<const std::byte>& bytes, LocalObject& object) const;

 private:
  const ObjectFactory& factory_;
  const ObjectGuard& guard_;
};

}  // namespace poise::objects
