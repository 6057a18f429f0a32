// SPDX-License-Identifier: BSD-3-Clause
// Runs a mini-app on Charm++. The chares of on_charm.cc, which may be compiled with another C++
// standard, see the mini-app's objects only through the type-erased interface of hidden.h.
#pragma once

#include "miniapps/hidden.h"
#include "miniapps/one_buffer.h"

#include "poise/placement/initial.h"

namespace poise::miniapps {

template <typename T>
Bytes bytes_of(const T& value) {
  const auto* begin = reinterpret_cast<const char*>(&value);
  return Bytes(begin, begin + sizeof value);
}

template <Program P>
class ProgramOnCharm final : public HiddenProgram {
 public:
  using Object = decltype(std::declval<const P&>().object(0));
  using Value = std::decay_t<decltype(std::declval<const P&>().sum_of(std::declval<Object&>()))>;

  P program;
  std::string placement = "blocked";

  const char* name() const override { return P::kName; }
  std::uint32_t num_objects() const override { return program.num_objects(); }
  std::uint64_t iterations() const override { return program.iterations; }
  std::uint64_t steps() const override { return program.steps(); }
  std::unique_ptr<HiddenObject> object(std::uint32_t id) const override {
    return std::make_unique<ObjectOnCharm>(*this, id, program.object(id));
  }
  std::unique_ptr<HiddenObject> restored(const Bytes& bytes) const override {
    Reader reader(std::as_bytes(std::span(bytes)));
    ObjectId id = 0;
    Object object{};
    reader(id, object);
    return std::make_unique<ObjectOnCharm>(*this, id, std::move(object));
  }
  std::vector<int> start(int num_places) const override {
    const Placement places =
        initial_placement(placement, num_objects(), static_cast<std::uint32_t>(num_places), 1);
    std::vector<int> result;
    for (ObjectId id = 0; id < num_objects(); ++id)
      result.push_back(static_cast<int>(places.of(id)));
    return result;
  }
  std::string results(const std::vector<Bytes>& first,
                      const std::vector<Bytes>& last) const override {
    const Value sum = sum_of(last);
    if constexpr (requires { program.check(sum, sum); }) program.check(sum_of(first), sum);
    return fmt::format("checksum {:.17g}", program.checksum(sum));
  }

 private:
  class ObjectOnCharm final : public HiddenObject {
   public:
    ObjectOnCharm(const ProgramOnCharm& host, ObjectId id, Object object)
        : host_(host), id_(id), object_(std::move(object)) {}
    void step(const std::vector<Letter>& letters, const Send& send) override {
      std::vector<Mail> mails;
      for (const Letter& letter : letters)
        mails.emplace_back(letter.from, std::as_bytes(std::span(letter.bytes)));
      OneBuffer sent(host_.num_objects());
      Outbox outbox(sent, id_);
      object_.step(Inbox(mails), outbox);
      for (auto bytes = sent.buffer().bytes(); !bytes.empty();) {
        const objects::PackedMessage letter = objects::take_message(bytes);
        for (const ObjectId to : letter.to)
          send(to, reinterpret_cast<const char*>(letter.payload.data()), letter.payload.size());
      }
    }
    Bytes bytes() const override {
      Buffer buffer;
      Writer writer(buffer);
      writer(id_, object_);
      const auto* begin = reinterpret_cast<const char*>(buffer.data());
      return Bytes(begin, begin + buffer.size());
    }
    Bytes value() const override { return bytes_of<Value>(host_.program.sum_of(object_)); }

   private:
    const ProgramOnCharm& host_;
    ObjectId id_;
    Object object_;
  };

  static Value sum_of(const std::vector<Bytes>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value sum{};
    for (const Bytes& bytes : values) {
      Value value{};
      std::memcpy(&value, bytes.data(), sizeof value);
      sum += value;
    }
    return sum;
  }
};

template <Program P>
Asked asked_of(const std::vector<std::string>& typed) {
  auto hidden = std::make_unique<ProgramOnCharm<P>>();
  Arguments arguments(P::kSummary, P::kName);
  hidden->program.add_options(arguments);
  arguments.add("--steps", hidden->program.iterations, "number of iterations", 1, 1000000000);
  arguments.add("--placement", hidden->placement,
                "initial placement of objects: blocked, round_robin, random or uneven");
  arguments.set_footer(
      "Environment variable POISE_PERIOD: steps between AtSync calls; +balancer selects the "
      "balancer.");
  if (auto over = arguments.parse(typed)) return {nullptr, over->status, std::move(over->text)};
  try {
    if constexpr (requires { hidden->program.prepare(); }) hidden->program.prepare();
    hidden->start(1);  // throws if --placement has an unknown value
    return {std::move(hidden), 0, {}};
  } catch (const std::exception& error) {
    return {nullptr, 2, fmt::format("{}: {}\n", P::kName, error.what())};
  }
}

}  // namespace poise::miniapps
