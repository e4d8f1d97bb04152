/* Limit of work 5: a chain of blocks of 1 kg (Burridge and Knopoff) with springs of 50 N/m between neighbours, springs of
 * 5 N/m to a plate that moves at 10 mm/s, and Coulomb friction of 1 N; steps of 1 ms, friction implicit (seed 000, eq 11).
 *   w5           100,000 blocks, 1024 steps; the springs do not overcome friction, so all is held at exactly 0
 *   w5-slipping  the same with ten times the amplitude at the start: most blocks slip
 *   w5-large     10,000,000 blocks, 32 steps: far beyond the cache
 *   w5-stribeck  as w5-slipping with friction of 1 N + 0.5 N exp(-(v/0.05 m/s)^2) + 0.1 Ns/m v, which holds with 1.5 N
 *   w5-table     as w5-slipping with friction by 150 points: 1 N + 0.5/(1 + (i/5)^2) N at i cm/s
 * Two ways of doing it, of which the faster counts: one pass over the chain per step, and skewed tiles that stay in the
 * cache for 32 steps. Vectors of four, a neighbour taken from the vector before; multiply-add where the machine has it.
 * Printed: nanoseconds per block and step, sum of all positions. */
#include <immintrin.h>
#include "measure.h"
#include "lanes.h"

static const double T = 1e-3, NEIGHBOUR = 50, PLATE = 5, SPEED = 0.01, FRICTION = 1;
#define DEPTH 32
#define TILE 2048
static double *x, *v;

/* One block, from the old positions beside it. */
static inline double one(long i, double left, double right, double plate) {
  double stop = T * FRICTION, here = x[i];
  double fast = v[i] + T * (NEIGHBOUR * (left + right) + PLATE * plate - (2 * NEIGHBOUR + PLATE) * here);
  double hold = fast > stop ? stop : fast < -stop ? -stop : fast;
  v[i] = fast - hold;
  return here + T * v[i];
}

/* Moves blocks [low, high) one step; `left` and `right` are the old positions beside them. Returns the old position of the
 * last. A vector is stored at once: the next one takes its left neighbours from the register that held it. */
static double pass(long low, long high, double left, double right, double plate) {
  const __m256d beside = _mm256_set1_pd(T * NEIGHBOUR), here = _mm256_set1_pd(-T * (2 * NEIGHBOUR + PLATE));
  const __m256d pull = _mm256_set1_pd(T * PLATE * plate), step = _mm256_set1_pd(T);
  const __m256d stop = _mm256_set1_pd(T * FRICTION), back = _mm256_set1_pd(-T * FRICTION);
  if (high <= low) return left;
  double last = x[high - 1];
  long i = low;
  __m256d before = _mm256_set1_pd(left);
  for (; i + 4 < high; i += 4) {
    __m256d c = _mm256_loadu_pd(x + i), r = _mm256_loadu_pd(x + i + 1);
    __m256d turned = _mm256_permute4x64_pd(c, 0x93);                             /* c3 c0 c1 c2 */
    __m256d l = _mm256_blend_pd(turned, _mm256_permute4x64_pd(before, 0x93), 1); /* b3 c0 c1 c2 */
    before = c;
    __m256d f = _mm256_loadu_pd(v + i) + (beside * (l + r) + (here * c + pull));
    __m256d w = f - _mm256_max_pd(back, _mm256_min_pd(stop, f));
    _mm256_storeu_pd(v + i, w);
    _mm256_storeu_pd(x + i, c + step * w);
  }
  left = before[3];
  for (; i < high; i++) {
    double old = x[i];
    x[i] = one(i, left, i + 1 < high ? x[i + 1] : right, plate);
    left = old;
  }
  return last;
}

/* Friction that depends on speed: s + T g(s) = |free|. A block at rest is held up to g(0). */
#define POINTS 150
static double knot[POINTS + 1], ratio[POINTS + 1]; /* s + T g(s) at the points, and the slope of s against it */
static const double SPACING = 0.01;
static double table_force(int i) { return 1 + 0.5 / (1 + i / 5.0 * (i / 5.0)); }
static void prepare_table(void) {
  for (int i = 0; i < POINTS; i++) knot[i] = i * SPACING + T * table_force(i);
  for (int i = 0; i + 1 < POINTS; i++) ratio[i] = SPACING / (knot[i + 1] - knot[i]);
  ratio[POINTS - 1] = 1;
  knot[POINTS] = INFINITY;
}

static inline vector stribeck_speed(vector size) {
  const double kinetic = 1, falls = 0.5, scale = 1 / 0.05, viscous = 0.1;
  vector s = (size - T * kinetic) * (1 / (1 + T * viscous));
  s = choose(s > 0, s, all(0));
  for (int round = 0; round < 3; round++) {
    vector u = s * scale, power = u * u;
    vector decay = falls * exponential(-choose(power < 700, power, all(700)));
    vector excess = s + T * (kinetic + decay + viscous * s) - size;
    s -= excess / (1 + T * viscous - (2 * T * scale) * (u * decay));
  }
  return s;
}

/* The line that a root lies on is that of its speed less about T g, or the one beside it. */
static inline vector table_speed(vector size) {
  vector s;
  for (int i = 0; i < 4; i++) {
    double guess = size[i] * (1 / SPACING);
    int at = guess < POINTS - 1 ? (int)guess : POINTS - 1;
    at -= size[i] < knot[at];
    at = at < 0 ? 0 : at;
    s[i] = at * SPACING + (size[i] - knot[at]) * ratio[at];
  }
  return s;
}

#define CURVED_PASS(name, slide, holds)                                                                          \
  static double name(long low, long high, double left, double right, double plate) {                             \
    const vector pull = all(T * PLATE * plate);                                                                  \
    const mask sign = (mask)all(-0.0);                                                                           \
    if (high <= low) return left;                                                                                \
    double last = x[high - 1], before = left;                                                                    \
    for (long i = low; i < high; i += 4) {                                                                       \
      long count = high - i < 4 ? high - i : 4;                                                                  \
      double tail[4] = {0}, tail_v[4] = {0}, after[4] = {0};                                                     \
      vector c, r, was, l;                                                                                       \
      if (count == 4 && i + 4 < high) {                                                                          \
        c = (vector)_mm256_loadu_pd(x + i), r = (vector)_mm256_loadu_pd(x + i + 1), was = (vector)_mm256_loadu_pd(v + i); \
      } else {                                                                                                   \
        for (long k = 0; k < count; k++) {                                                                       \
          tail[k] = x[i + k], tail_v[k] = v[i + k];                                                              \
          after[k] = i + k + 1 < high ? x[i + k + 1] : right;                                                    \
        }                                                                                                        \
        c = (vector)_mm256_loadu_pd(tail), r = (vector)_mm256_loadu_pd(after), was = (vector)_mm256_loadu_pd(tail_v); \
      }                                                                                                          \
      l = (vector){before, c[0], c[1], c[2]};                                                                    \
      before = c[count - 1];                                                                                     \
      vector free = was + ((T * NEIGHBOUR) * (l + r) + ((-T * (2 * NEIGHBOUR + PLATE)) * c + pull));             \
      vector size = (vector)((mask)free & ~sign);                                                                \
      mask slips = size > T * (holds);                                                                           \
      vector w = all(0);                                                                                         \
      if (_mm256_movemask_pd((__m256d)slips)) w = (vector)(slips & ((mask)slide(size) | ((mask)free & sign)));   \
      vector next = c + T * w;                                                                                   \
      if (count == 4) {                                                                                          \
        _mm256_storeu_pd(v + i, (__m256d)w), _mm256_storeu_pd(x + i, (__m256d)next);                             \
      } else {                                                                                                   \
        for (long k = 0; k < count; k++) x[i + k] = next[k], v[i + k] = w[k];                                    \
      }                                                                                                          \
    }                                                                                                            \
    return last;                                                                                                 \
  }
CURVED_PASS(stribeck_pass, stribeck_speed, 1.5)
CURVED_PASS(table_pass, table_speed, 1.5)
static double (*moves)(long, long, double, double, double) = pass;

static double plate_at(long k) { return SPEED * (double)(k + 1) * T; }

static void plain(long n, long steps) {
  for (long k = 0; k < steps; k++) moves(0, n, x[0], x[n - 1], plate_at(k));
}

/* A tile goes to the left by one block a step; what it leaves on its right is done with the next one. */
static void tiled(long n, long steps) {
  double beside[DEPTH], next[DEPTH];
  for (long k = 0; k < steps; k += DEPTH)
    for (long from = 0; from < n; from += TILE) {
      for (int s = 0; s < DEPTH; s++) {
        long low = from ? from - s : 0, high = from + TILE >= n ? n : from + TILE - s;
        next[s] = moves(low, high, from ? beside[s] : x[0], high == n ? x[n - 1] : x[high], plate_at(k + s));
      }
      for (int s = 0; s < DEPTH; s++) beside[s] = next[s];
    }
}

static void chain(const char *name, long n, long steps, double amplitude, int runs) {
  void (*ways[])(long, long) = {plain, tiled};
  double least = INFINITY, sum = 0;
  x = aligned_alloc(64, 8 * ((size_t)n + 8));
  v = aligned_alloc(64, 8 * ((size_t)n + 8));
  if (!x || !v) exit(1);
  for (int run = 0; run < 2 * runs; run++) {
    for (long i = 0; i < n; i++) {
      x[i] = amplitude * (0.01 * sin(0.37 * (double)i) + 0.005 * sin(1.7 * (double)i)) + nothing;
      v[i] = nothing;
    }
    double start = cpu_nanoseconds();
    ways[run % 2](n, steps);
    double each = (cpu_nanoseconds() - start) / ((double)n * (double)steps);
    if (each < least) least = each;
    sum = 0;
    for (long i = 0; i < n; i++) sum += x[i];
  }
  printf("%s %.5f %.17g\n", name, least, sum);
  free(x);
  free(v);
}

int main(int argc, char **argv) {
  int runs = runs_wanted(argc, argv, 3);
  chain("w5", 100000, 1024, 1, 2 * runs);
  chain("w5-slipping", 100000, 1024, 10, 2 * runs);
  prepare_table();
  moves = stribeck_pass;
  chain("w5-stribeck", 100000, 256, 10, runs);
  moves = table_pass;
  chain("w5-table", 100000, 256, 10, runs);
  moves = pass;
  chain("w5-large", 10000000, 32, 1, runs);
}
