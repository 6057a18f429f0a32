// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/rank_communication.h"

#include <vector>

#include "runtimes/objects/collectives.h"

namespace poise::objects {

poise_communication RankCommunication::table() {
  return {this, layout_.position_of(layout_.rank), static_cast<std::uint32_t>(layout_.num_ranks),
          exchange, reduce};
}

int RankCommunication::exchange(void* self, std::uint64_t num_sends, const std::uint32_t* to,
                                const void* const* data, const std::uint64_t* bytes,
                                poise_receive receive, void* receiver) {
  const auto& [comm, layout, messenger] = *static_cast<RankCommunication*>(self);
  std::vector<MessageBuffer> outgoing(layout.num_ranks);
  for (std::uint64_t i = 0; i < num_sends; ++i)
    outgoing[layout.rank_at(to[i])].open().append(data[i], bytes[i]);
  for (const auto& [from, buffer] : messenger.sparse_all_to_all(outgoing)) {
    const auto content = buffer.content();
    receive(receiver, layout.position_of(from), content.data(), content.size());
  }
  return 0;
}

int RankCommunication::reduce(void* self, int reduction, std::uint64_t count,
                              std::uint64_t* values) {
  MPI_Request request{};
  MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T,
                 reduction == POISE_MAX ? MPI_MAX : MPI_SUM,
                 static_cast<RankCommunication*>(self)->comm_, &request);
  wait_and_yield(request);
  return 0;
}

}  // namespace poise::objects
