// SPDX-License-Identifier: BSD-3-Clause
// Collects in one buffer all messages that an object sends during a step. on_openmp.h and
// on_charm.h deliver them after the step.
#pragma once

#include "miniapps/program.h"

namespace poise::miniapps {

class OneBuffer final : public objects::MessageRouter {
 public:
  explicit OneBuffer(ObjectId num_objects) : num_objects_(num_objects) {}
  Buffer& buffer_for(ObjectId to) override {
    if (to >= num_objects_)
      fail("cannot send a message to object {}; there are {} objects, numbered from 0", to,
           num_objects_);
    return buffer_;
  }
  void note(ObjectId, ObjectId, std::uint64_t) override {}
  const Buffer& buffer() const { return buffer_; }
  void clear() { buffer_.resize(0); }

 private:
  ObjectId num_objects_;
  Buffer buffer_;
};

}  // namespace poise::miniapps
