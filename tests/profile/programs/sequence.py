# SPDX-License-Identifier: BSD-3-Clause

"""Makes, through mpi4py, the sequence of MPI calls that paths_test.py expects."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
out, received = array("i", [rank + 1] * 64), array("i", [0] * 64)
total = 0


def part(buffer, count):
    return [buffer, count, MPI.INT]


for _ in range(10):
    MPI.Request.Waitall([world.Irecv(part(received, 25), left, 1), world.Isend(part(out, 25), right, 1)])
    total += received[24]
world.Sendrecv(part(out, 7), left, 2, part(received, 7), right, 2)
total += received[6]
turned = world.Split(0, size - rank)
turned.Send(part(out, 3), (turned.rank + 1) % size, 3)
turned.Recv(part(received, 3), (turned.rank - 1) % size, 3)
total += received[2]
turned.Free()
persistent = world.Send_init(part(out, 5), right, 4)
for _ in range(3):
    persistent.Start()
    world.Recv(part(received, 5), left, 4)
    persistent.Wait()
    total += received[4]
persistent.Free()
world.Send(part(out, 9), MPI.PROC_NULL, 5)
received[:50] = array("i", [7 if rank == 1 else 0] * 50)
world.Bcast(part(received, 50), 1)
total += received[49]
world.Allreduce(MPI.IN_PLACE, part(received, 8))
total += received[7]
world.Barrier()
world.Alltoall(part(out, 2), part(received, 2))
total += sum(received[:2 * size])
own, summed = array("i", [total]), array("i", [0])
world.Reduce(part(own, 1), part(summed, 1), root=0)
if rank == 0:
    print("sum", summed[0])
