/* Limit of work 4: a sweep of 10,032 runs of 100,000 steps of 1 ms. Each is a block of 1 kg on a floor that holds it with 13 N and
 * rubs with 10 N, dragged by a spring whose end moves steadily (seed 000, eq 19); stiffness and speed differ from run to run.
 * Only the stretch of the spring, the velocity and the force that friction can hold matter. Four runs go side by side in a
 * vector, and several vectors one after the other, so that none waits for its own sums; nothing leaves the registers but what
 * they cannot hold.
 * Outcome: mean stretch at the end of the last step, before the end of the spring moves on; of all runs, and of those without
 * a tie. In a tie the pull reaches 13 N exactly at the end of a step, and rounding decides whether the block starts then or one
 * step later: one answer is as good as the other. */
#include "measure.h"
#include "lanes.h"

#define RUNS 10032
#define STEPS 100000
#define SIDE 101 /* runs with the same speed */
#define FLIGHT 6

static const double T = 1e-3, SLIDES = 10, HOLDS = 13;

static double stiffness(int run) { return 10 + 190.0 * (run % SIDE) / SIDE; }
static double speed(int run) { return 0.05 + 1.95 * (run / SIDE) / SIDE; }
static int tie(int run) {
  double steps = HOLDS / (stiffness(run) * speed(run) * T);
  return fabs(steps - round(steps)) < 1e-9 * steps;
}

static double block_of_runs(int first, double *without_ties) {
  const vector slide = all(T * SLIDES), hold = all(T * HOLDS);
  const mask sign = (mask)all(-0.0);
  vector stretch[FLIGHT], v[FLIGHT], limit[FLIGHT], pull[FLIGHT], travel[FLIGHT];
  for (int u = 0; u < FLIGHT; u++) {
    stretch[u] = v[u] = all(nothing);
    limit[u] = hold;
    for (int i = 0; i < 4; i++) {
      pull[u][i] = T * stiffness(first + 4 * u + i);
      travel[u][i] = T * speed(first + 4 * u + i);
    }
  }
  for (int k = 0; k < STEPS; k++)
#pragma GCC unroll 6
    for (int u = 0; u < FLIGHT; u++) {
      vector drawn = stretch[u] + travel[u], free = v[u] + pull[u] * drawn;
      mask stuck = (vector)((mask)free & ~sign) <= limit[u];
      vector slid = free - (vector)((mask)slide | ((mask)free & sign));
      limit[u] = (vector)((stuck & (mask)hold) | (~stuck & (mask)slide));
      v[u] = (vector)(~stuck & (mask)slid);
      stretch[u] = drawn - T * v[u];
    }
  double sum = 0;
  for (int u = 0; u < FLIGHT; u++)
    for (int i = 0; i < 4; i++) {
      sum += stretch[u][i];
      if (!tie(first + 4 * u + i)) *without_ties += stretch[u][i];
    }
  return sum;
}

/* The same with a friction that falls with speed: 10 N + 3 N exp(-(v/v_s)^2), v_s = 0.1 m/s. The speed s at the end of the step solves
 * s + T g(s) = |v free|; three rounds of Newton's method find it to the last digit. */
#define CURVED_RUNS 1008
#define CURVED_STEPS 20000
#define CURVED_FLIGHT 3
static double curved_runs(int first, double *without_ties) {
  const double falls = HOLDS - SLIDES, scale = 1 / 0.1;
  const mask sign = (mask)all(-0.0);
  vector stretch[CURVED_FLIGHT], v[CURVED_FLIGHT], pull[CURVED_FLIGHT], travel[CURVED_FLIGHT];
  for (int u = 0; u < CURVED_FLIGHT; u++) {
    stretch[u] = v[u] = all(nothing);
    for (int i = 0; i < 4; i++) {
      pull[u][i] = T * stiffness(first + 4 * u + i);
      travel[u][i] = T * speed(first + 4 * u + i);
    }
  }
  for (int k = 0; k < CURVED_STEPS; k++)
#pragma GCC unroll 3
    for (int u = 0; u < CURVED_FLIGHT; u++) {
      vector drawn = stretch[u] + travel[u], free = v[u] + pull[u] * drawn;
      vector size = (vector)((mask)free & ~sign);
      mask slips = size > T * HOLDS;
      vector s = size - T * SLIDES;
      s = choose(s > 0, s, all(0));
#pragma GCC unroll 3
      for (int round = 0; round < 3; round++) {
        vector x = s * scale, power = x * x;
        vector decay = falls * exponential(-choose(power < 700, power, all(700)));
        vector excess = s + T * (SLIDES + decay) - size;
        s -= excess / (1 - (2 * T * scale) * (x * decay));
      }
      v[u] = (vector)(slips & ((mask)s | ((mask)free & sign)));
      stretch[u] = drawn - T * v[u];
    }
  double sum = 0;
  for (int u = 0; u < CURVED_FLIGHT; u++)
    for (int i = 0; i < 4; i++) {
      sum += stretch[u][i];
      if (!tie(first + 4 * u + i)) *without_ties += stretch[u][i];
    }
  return sum;
}

static void curved(int turns) {
  double least = INFINITY, sum = 0, decided = 0;
  for (int turn = 0; turn < turns; turn++) {
    sum = decided = 0;
    double start = cpu_nanoseconds();
    for (int first = 0; first < CURVED_RUNS; first += 4 * CURVED_FLIGHT) sum += curved_runs(first, &decided);
    double each = (cpu_nanoseconds() - start) / ((double)CURVED_RUNS * CURVED_STEPS);
    if (each < least) least = each;
  }
  int runs = 0;
  for (int run = 0; run < CURVED_RUNS; run++) runs += !tie(run);
  printf("w4-stribeck %.4f %.17g %.17g\n", least, sum / CURVED_RUNS, decided / runs);
}

/* Timed in pieces: a short one is more likely to meet a quiet moment. */
#define PIECE 264
int main(int argc, char **argv) {
  double least = INFINITY, sum = 0, decided = 0;
  for (int turn = runs_wanted(argc, argv, 2); turn > 0; turn--) {
    sum = decided = 0;
    for (int piece = 0; piece < RUNS; piece += PIECE) {
      double start = cpu_nanoseconds();
      for (int first = piece; first < piece + PIECE; first += 4 * FLIGHT) sum += block_of_runs(first, &decided);
      double each = (cpu_nanoseconds() - start) / ((double)PIECE * STEPS);
      if (each < least) least = each;
    }
  }
  int runs = 0;
  for (int run = 0; run < RUNS; run++) runs += !tie(run);
  curved(3);
  printf("w4 %.4f %.17g %.17g\n", least, sum / RUNS, decided / runs);
}
