// The engine's other half: what it measured, what was decided, and carrying it out.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <utility>

#include "runtimes/objects/collect.h"
#include "runtimes/objects/engine.h"
#include "runtimes/objects/thread.h"

#include "poise/placement/payoff.h"

namespace poise::objects {

namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kParcelBytes = std::size_t{4}
                                     << 20;  // enough to hide latency, and to overlap
constexpr std::uint64_t kStepsOfTracedPhase = 10;
constexpr std::uint64_t kLongestCheck = 64;

/// A migrating object in a parcel: this, what its steps took lately, its bytes, and the mail it has
/// not read yet.
struct alignas(16) Crate {
  ObjectId id;
  std::uint32_t num_subphases = 0;
  std::uint64_t object_bytes = 0, mail_bytes = 0;
};

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Engine::begin_phase() {
  recorder_ =
      std::make_unique<Recorder>(std::vector<Task>(num_objects()), world_.machine.num_places());
  for (const auto& thread : threads_) thread->log = &recorder_->add_thread();
  steps_in_phase_ = 0;
  phase_wall_s_ = phase_load_s_ = phase_ran_s_ = background_s_ = idle_s_ = 0;
  for (Slot& slot : slots_) {
    slot.wall_s = 0;
    slot.subphase_s.assign(num_subphases_, 0);
  }
}

Share Engine::measured() {
  Share share;
  Workload phase = recorder_->end_phase(cpu_now_s());
  for (const Slot& slot : slots_) {
    Row row;
    row.id = slot.id;
    row.place = placement_.of(slot.id);
    row.cpu_s = phase.tasks[slot.id].load_s;
    row.wall_s = slot.wall_s;
    guard(slot.id, [&] {
      row.bytes = slot.object->bytes();
      slot.object->describe(row);
    });
    share.rows.push_back(row);
    share.subphase_s.insert(share.subphase_s.end(), slot.subphase_s.begin(), slot.subphase_s.end());
  }
  share.num_subphases = num_subphases_;
  share.messages = std::move(phase.messages);
  share.places.push_back({world_.own_places()[0], background_s_, idle_s_});
  return share;
}

void Engine::balance_if_due() {
  if (options_.period > 0) {
    if (num_steps_ % options_.period == 0) balance();
  } else if (options_.is_automatic) {
    if (is_worth_it()) balance();
  } else if (keeps_trace_ && steps_in_phase_ == kStepsOfTracedPhase) {
    record_phase();
  }
}

/// This rank's work since the last decision, by subphase where it is known.
std::vector<double> Engine::busy_by_subphase_s() const {
  if (num_subphases_ == 0) return {phase_load_s_ / num_threads_ + background_s_};
  std::vector<double> busy_s(num_subphases_, background_s_ / num_subphases_);
  for (const Slot& slot : slots_)
    for (std::uint32_t s = 0; s < num_subphases_; ++s)
      busy_s[s] += slot.subphase_s[s] / num_threads_;
  return busy_s;
}

/// Asks seldom, and less often the longer the answer stays no.
bool Engine::is_worth_it() {
  if (steps_in_phase_ < check_after_) return false;
  std::vector<double> most = busy_by_subphase_s();
  double sum = std::accumulate(most.begin(), most.end(), 0.0);
  to_largest(comm_, most);
  to_sum(comm_, {&sum, 1});
  const std::uint64_t to_come =
      options_.expected_steps > num_steps_ ? options_.expected_steps - num_steps_ : num_steps_;
  const bool pays = payoff_s({.busiest_s = std::accumulate(most.begin(), most.end(), 0.0),
                              .average_s = sum / world_.num_ranks,
                              .steps = steps_in_phase_,
                              .steps_to_come = to_come,
                              .reachable_imbalance = reachable_imbalance_,
                              .cost_s = last_cost_s_}) > 0;
  check_after_ = pays ? 4 : steps_in_phase_ + std::min(steps_in_phase_, kLongestCheck);
  return pays;
}

void Engine::record_phase() {
  const Share all = gathered(comm_, measured(), 0);
  if (journal_) {
    const Census census =
        census_of(all, num_objects(), world_.machine.num_places(), options_.clock == Clock::wall,
                  options_.place_per_thread ? 1 : static_cast<std::uint32_t>(num_threads_));
    keep_record(census);
  }
  begin_phase();
}

/// A trace that cannot be written must not end the run.
void Engine::keep_record(const Census& census) {
  try {
    journal_->add(census, phase_wall_s_);
  } catch (const Error& error) {
    warn(fmt::format("the trace ends here: {}", error.what()));
  }
}

Balanced Engine::balance() {
  const double start_s = wall_now_s();
  Balanced balanced;
  balanced.step = num_steps_;
  Decision decision = decider_.decide(measured());
  if (!decision.trouble.empty())
    warn(fmt::format("strategy {} failed, so objects stay where they are: {}", options_.strategy,
                     decision.trouble));
  if (decision.census && keeps_trace_) keep_record(*decision.census);
  balanced.imbalance_before = decision.imbalance_before;
  balanced.imbalance_after = decision.imbalance_after;
  const double decided_s = wall_now_s();
  balanced.decision_s = decided_s - start_s;
  migrate(decision.placement, balanced);
  const double end_s = wall_now_s();
  balanced.migration_s = end_s - decided_s;
  diary_.balance(start_s, end_s);

  double bytes = static_cast<double>(balanced.migrated_bytes);
  to_sum(comm_, {&bytes, 1});
  balanced.migrated_bytes = static_cast<std::uint64_t>(bytes);
  last_cost_s_ = balanced.decision_s + balanced.migration_s;
  to_largest(comm_, {&last_cost_s_, 1});
  reachable_imbalance_ = balanced.imbalance_after;
  wall_s_ += balanced.decision_s + balanced.migration_s;
  sum_.migrations += balanced.migrations;
  sum_.migrated_bytes += balanced.migrated_bytes;
  sum_.decision_s += balanced.decision_s;
  sum_.migration_s += balanced.migration_s;
  if (journal_) journal_->add(options_.strategy, balanced);
  begin_phase();
  return balanced;
}

void Engine::pack(Slot& slot, Buffer& buffer) {
  pack(slot, buffer, [&](Buffer& letters) {
    for (const Mail& mail : slot.inbox)
      append_letter(letters, {mail.from(), {&slot.id, 1}, mail.bytes()});
  });
}

void Engine::pack(const Slot& slot, Buffer& buffer, const std::function<void(Buffer&)>& add_mail) {
  const std::size_t at = buffer.size();
  Crate crate{slot.id, static_cast<std::uint32_t>(slot.step_s.size())};
  buffer.append(&crate, sizeof crate);
  buffer.append(slot.step_s.data(), slot.step_s.size() * sizeof(float));
  buffer.pad(kAlignment);
  const std::size_t object_at = buffer.size();
  guard(slot.id, [&] { slot.object->write(buffer); });
  crate.object_bytes = buffer.size() - object_at;
  buffer.pad(kAlignment);
  const std::size_t mail_at = buffer.size();
  add_mail(buffer);
  crate.mail_bytes = buffer.size() - mail_at;
  std::memcpy(buffer.data() + at, &crate, sizeof crate);
}

/// Takes a packed object off the bytes, and returns the letters that were packed with it.
std::span<const std::byte> Engine::unpack_object(std::span<const std::byte>& bytes, Slot& slot) {
  Crate crate{};
  std::memcpy(&crate, bytes.data(), sizeof crate);
  bytes = bytes.subspan(sizeof crate);
  slot.id = crate.id;
  slot.step_s.resize(crate.num_subphases);
  const std::size_t step_bytes = slot.step_s.size() * sizeof(float);
  if (step_bytes > 0) std::memcpy(slot.step_s.data(), bytes.data(), step_bytes);
  bytes = bytes.subspan(padded(step_bytes));
  guard(slot.id, [&] { slot.object = making_.restored(bytes.first(crate.object_bytes)); });
  const std::size_t mail_at = padded(crate.object_bytes);
  const auto letters = bytes.subspan(mail_at, crate.mail_bytes);
  bytes = bytes.subspan(mail_at + crate.mail_bytes);
  return letters;
}

/// The same with its mail, which is read where it lies. Returns whether there was any.
bool Engine::unpack_one(std::span<const std::byte>& bytes, Slot& slot) {
  auto letters = unpack_object(bytes, slot);
  const bool has_mail = !letters.empty();
  while (!letters.empty()) {
    const Letter letter = next_letter(letters);
    slot.inbox.emplace_back(letter.from, letter.payload);
  }
  return has_mail;
}

void Engine::unpack(Parcel parcel, std::vector<Slot>& arrived) {
  auto bytes = parcel.content();
  bool has_mail = false;
  while (!bytes.empty()) has_mail = unpack_one(bytes, arrived.emplace_back()) || has_mail;
  if (has_mail) held_.push_back(std::move(parcel));
}

/// Every rank knows who comes and who goes, so nobody is asked. Objects travel in parcels that are
/// sent as soon as they are full, while the next are packed and arrivals unpacked.
void Engine::migrate(const Placement& next, Balanced& balanced) {
  std::size_t num_coming = 0;
  std::vector<std::vector<std::uint32_t>> going(static_cast<std::size_t>(world_.num_ranks));
  for (const Migration& migration : migrations(placement_, next)) {
    const int from = world_.rank_of(migration.from), to = world_.rank_of(migration.to);
    if (from == to) continue;
    ++balanced.migrations;
    if (to == world_.rank) ++num_coming;
    if (from == world_.rank)
      going[static_cast<std::size_t>(to)].push_back(slot_of_[migration.task]);
  }
  std::vector<Slot> arrived;
  Exchange::Received received;
  for (std::size_t to = 0; to < going.size(); ++to) {
    Parcel parcel;
    for (const std::uint32_t s : going[to]) {
      pack(slots_[s], parcel.open());
      slots_[s].object.reset();
      const bool is_last = s == going[to].back();
      if (!is_last && parcel.content().size() < kParcelBytes) continue;
      balanced.migrated_bytes += parcel.content().size();
      exchange_.send(static_cast<int>(to), std::move(parcel));
      parcel = Parcel();
      while (exchange_.try_receive(received)) unpack(std::move(received.parcel), arrived);
    }
  }
  while (arrived.size() < num_coming) unpack(exchange_.receive().parcel, arrived);
  exchange_.finish();
  placement_ = next;
  std::erase_if(slots_, [](const Slot& slot) { return slot.object == nullptr; });
  for (Slot& slot : arrived) slots_.push_back(std::move(slot));
  std::sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.id < b.id; });
  deal_out();
}

void Engine::finish() {
  finish_trace();
  finish_timeline();
}

void Engine::finish_timeline() {
  const std::string path = std::exchange(options_.timeline, "");
  if (path.empty()) return;
  const std::string title = fmt::format("{}, strategy {}", options_.name, options_.strategy);
  const Timeline timeline = diary_.gathered(comm_, title, world_.machine.num_places());
  if (!journal_) return;
  try {
    write_timeline(timeline, path);
  } catch (const Error& error) {
    warn(fmt::format("there is no timeline: {}", error.what()));
  }
}

void Engine::finish_trace() {
  if (!keeps_trace_) return;
  keeps_trace_ = false;
  if (steps_in_phase_ > 0) record_phase();
  if (!journal_) return;
  try {
    journal_->finish();
  } catch (const Error& error) {
    warn(fmt::format("the trace is not complete: {}", error.what()));
  }
}

void Engine::warn(const std::string& trouble) {
  if (has_warned_) return;
  has_warned_ = true;
  std::fprintf(stderr, "poise: warning: %s\n", trouble.c_str());
}

}  // namespace poise::objects
