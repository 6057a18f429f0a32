// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/step_runner.h"

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace poise::objects {

namespace {

std::size_t own_thread() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

}  // namespace

void run_object(LocalObject& object, Worker& worker, const Meter& meter, Clock clock) {
  if (!worker.failure.empty()) return;
  Outbox outbox(worker, object.id);
  worker.log->begin(object.id, worker.cpu_s);
  try {
    object.object->step(Inbox(object.inbox), outbox);
  } catch (const std::exception& error) {
    worker.failed = object.id;
    worker.failure = reason_of(error);
  } catch (...) {
    worker.failed = object.id;
    worker.failure = kUnknownException;
  }
  const double end_cpu_s = thread_cpu_now_s(), end_wall_s = wall_now_s();
  const double cpu_s = end_cpu_s - worker.cpu_s, wall_s = end_wall_s - worker.wall_s;
  worker.log->end(object.id, end_cpu_s);
  meter.add_step(object, clock == Clock::wall ? wall_s : cpu_s, wall_s);
  worker.busy_cpu_s += cpu_s;
  worker.busy_wall_s += wall_s;
  worker.cpu_s = end_cpu_s;
  worker.wall_s = end_wall_s;
}

void collect_loads(const StepParts& parts) {
  for (const auto& worker : parts.workers) {
    if (!worker->failure.empty()) parts.guard.abort(worker->failed, worker->failure);
    const double busy_s = parts.clock == Clock::wall ? worker->busy_wall_s : worker->busy_cpu_s;
    parts.meter.add_load(busy_s, busy_s);
    worker->busy_cpu_s = worker->busy_wall_s = 0;
  }
}

void ThreadedSteps::run() {
  LocalObjects& objects = parts_.objects;
  const auto& by_place = objects.by_place();
  const int num_places = by_place.size();
  const std::int64_t num_objects = objects.size();
  place_ends_s_.assign(by_place.size(), wall_now_s());
  const auto run_one = [&](std::size_t index, Worker& worker) {
    run_object(objects[index], worker, parts_.meter, parts_.clock);
  };
#ifdef _OPENMP
#pragma omp parallel num_threads(parts_.num_threads)
#endif
  {
    Worker& worker = *parts_.workers[own_thread()];
    worker.begin();
    if (one_place_per_thread_) {
#ifdef _OPENMP
#pragma omp for schedule(static, 1)
#endif
      for (int place = 0; place < num_places; ++place) {
        for (const std::uint32_t index : by_place[place]) run_one(index, worker);
        // If OpenMP gives fewer threads than there are places, a thread runs the objects of several
        // places in turn.
        if (!by_place[place].empty()) place_ends_s_[place] = worker.wall_s;
      }
    } else {
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
      for (std::int64_t index = 0; index < num_objects; ++index) run_one(index, worker);
    }
  }
  collect_loads(parts_);
}

std::vector<double> ThreadedSteps::work_ends_s() const {
  if (!one_place_per_thread_) return {wall_now_s()};
  return place_ends_s_;
}

}  // namespace poise::objects
