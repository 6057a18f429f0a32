// All that an object sends in a step, for hosts that find the receivers afterwards.
#pragma once

#include "miniapps/program.h"

namespace poise::miniapps {

class OneBuffer final : public objects::Routes {
 public:
  explicit OneBuffer(ObjectId num_objects) : num_objects_(num_objects) {}
  Buffer& buffer_for(ObjectId to) override {
    if (to >= num_objects_) fail("there is no object {}, only {}", to, num_objects_);
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
