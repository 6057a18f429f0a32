// Messages that no balanced placement can avoid, by the spectrum of who talks to whom.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/workload/workload.h"

namespace poise {

/// Some tasks that talk to each other, and how hard they are to part.
struct Cluster {
  double weight = 0;                // of its tasks
  std::vector<double> eigenvalues;  // of D^-1/2 L D^-1/2: messages per weight; ascending
};

/// Every task is in one cluster. Weights are loads and a little more, so that none is 0.
struct Spectra {
  std::vector<Cluster> clusters;
  double added = 0;  // to all loads together, seconds
};

/// L is the Laplacian of the messages, both directions added up, and D has the tasks' weights. As
/// the spectra take most_work or less (cubes of the clusters' sizes, added up), a workload of a few
/// hundred tasks is one cluster, larger ones are grown breadth first; none where they would be too
/// small to tell anything.
Spectra spectra_of(const Workload& workload, double most_work = 3e8);

/// No placement whose makespan is makespan_s or less has fewer messages between places, each times
/// its NUCO factor. If places take weights w_1 >= w_2 >= ... of a cluster, the messages between
/// them are at least
///
///     1/2 * sum of w_i * eigenvalue_i    (Donath and Hoffman, 1973, for weighted tasks),
///
/// least where the first places take all they can. The same holds for the groups of each level;
/// what the least factor between groups of a level exceeds that of the next finer one by is what
/// parting them adds. Messages between clusters are not counted. O(levels * (domains^2 + places log
/// places) + tasks).
double least_nuco_messages(const Machine& machine, const Workload& workload, const Spectra& spectra,
                           double makespan_s);

}  // namespace poise
