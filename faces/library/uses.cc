// SPDX-License-Identifier: BSD-3-Clause

#include "faces/library/uses.h"

#include <vector>

namespace poise::library {

namespace {

struct Use {
  Users* users;
  bool changes;
};

/// Handles in use by calls of this thread that have not returned, the outermost call first.
thread_local std::vector<Use> uses;

}  // namespace

bool begin_use(Users& users, bool changes) {
  uses.reserve(uses.size() + 1);  // so that push_back() below cannot throw
  int now = users.load();
  do {
    if (now < 0 || (changes && now > 0)) return false;
  } while (!users.compare_exchange_weak(now, changes ? -1 : now + 1));
  uses.push_back({&users, changes});
  return true;
}

Call::Call() : uses_before_(uses.size()) {}

Call::~Call() {
  for (; uses.size() > uses_before_; uses.pop_back()) {
    const Use& use = uses.back();
    use.changes ? use.users->store(0) : void(use.users->fetch_sub(1));
  }
}

}  // namespace poise::library
