// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/context.h"

#include "runtimes/tasks/runtime.h"

#include "poise/base/error.h"

namespace poise::tasks {

namespace {

std::string text_of(const Failure& failure, std::size_t num_failures) {
  const auto& where = failure.submitted_at;
  return fmt::format(
      "{} of function \"{}\"{} failed on rank {}: {}{}",
      failure.name != 0 ? fmt::format("task {}", failure.name) : "a task", failure.function,
      where.line() > 0 ? fmt::format(", submitted at {}:{},", where.file_name(), where.line()) : "",
      failure.rank, failure.text,
      num_failures > 1 ? fmt::format(" (and {} more)", num_failures - 1) : "");
}

}  // namespace

TaskFailed::TaskFailed(const Failure& first, std::size_t num_failures)
    : std::runtime_error(text_of(first, num_failures)) {}

Self self_of(const Task& task) {
  static const Annotations none;
  const auto& annotations = task.extras->annotations;
  return {task.owner, task.replicated, annotations ? *annotations : none};
}

Context::Context(MPI_Comm communicator, ContextOptions options)
    : runtime_(std::make_unique<Runtime>(*this, communicator, options)) {}

Context::~Context() = default;

void Context::add(With* with, FunctionId function, std::span<const Item> items,
                  std::source_location submitted_at, std::function<void()>&& deliver) {
  runtime_->submit(with, function, items, submitted_at, std::move(deliver));
}

void Context::wait(unsigned team) { runtime_->wait(team); }
bool Context::yield() { return runtime_->yield(); }
void Context::poll() { runtime_->progress(); }
std::uint32_t Context::rank() const { return runtime_->engine().messenger().rank; }
std::uint32_t Context::num_ranks() const { return runtime_->engine().messenger().num_ranks; }
std::pmr::memory_resource* Context::memory() { return runtime_->memory(); }
Counters Context::counters() const { return runtime_->counters(); }
std::string Context::summary() { return runtime_->summary(); }
Self Context::self() const { return runtime_->self(); }

Context& Context::current() {
  if (Context* context = Runtime::current_context()) return *context;
  fail("tasks::Context::current() works only inside a task; elsewhere use the context itself");
}

}  // namespace poise::tasks
