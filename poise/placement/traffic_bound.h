// SPDX-License-Identifier: BSD-3-Clause
// A spectral lower bound on the messages between places of any balanced placement.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/workload/workload.h"

namespace poise {

/// A cluster of tasks, with the eigenvalues of the graph of its messages.
struct Cluster {
  double weight = 0;  // sum of the weights of the cluster's tasks
  /// The eigenvalues of D^-1/2 L D^-1/2 in ascending order, in messages per unit of weight. L is
  /// the Laplacian of the graph, and D is the diagonal matrix of the tasks' weights.
  std::vector<double> eigenvalues;
};

/// A partition of the tasks into clusters. The weight of a task is its load plus a little, so that
/// no weight is 0.
struct Spectra {
  std::vector<Cluster> clusters;
  double added = 0;  // seconds added to the loads, summed over all tasks
};

/// Computes the spectra of all clusters. The weight of an edge is the number of messages between
/// its two tasks, in both directions together. The time for one cluster is cubic in its size; the
/// sum of the cubes is at most max_work. So a few hundred tasks form one cluster, and more tasks
/// form several, each grown breadth-first. Returns no clusters if they would be too small to give a
/// bound.
Spectra spectra_of(const Workload& workload, double max_work = 3e8);

/// Lower bound on the sum of the NUCO factors of all messages between places. It is valid for any
/// placement with a makespan of at most makespan_s. If a cluster of tasks is divided among places
/// so that their parts have the weights w_1 >= w_2 >= ..., the number of messages between these
/// places is at least
///
///     1/2 * sum of w_i * eigenvalue_i    (Donath and Hoffman, 1973, for weighted tasks).
///
/// This sum is smallest if the places that can take most weight within makespan_s are filled first.
/// The same bound holds for the messages between the groups of each level of the machine. Let f be
/// the smallest NUCO factor between two groups of a level, and g that of the next finer level. The
/// bound of the level is multiplied by f - g, and the products of all levels are added up. Messages
/// between clusters are not counted.
/// O(levels * (domains^2 + places log places) + tasks).
double least_nuco_messages(const Machine& machine, const Workload& workload, const Spectra& spectra,
                           double makespan_s);

}  // namespace poise
