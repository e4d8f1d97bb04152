/* Limit of work 5: a chain of blocks of 1 kg (Burridge and Knopoff) with springs of 50 N/m between neighbours, springs of
 * 5 N/m to a plate that moves at 10 mm/s, and Coulomb friction of 1 N; steps of 1 ms, friction implicit (seed 000, eq 11).
 *   w5           100,000 blocks, 1024 steps; the springs do not overcome friction, so all is held at exactly 0
 *   w5-slipping  the same with ten times the amplitude at the start: most blocks slip
 *   w5-large     10,000,000 blocks, 32 steps: far beyond the cache
 * Two ways of doing it, of which the faster counts: one pass over the chain per step, and skewed tiles that stay in the
 * cache for 32 steps. Vectors of four, a neighbour taken from the vector before; multiply-add where the machine has it.
 * Printed: nanoseconds per block and step, sum of all positions. */
#include <immintrin.h>
#include "measure.h"

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

static double plate_at(long k) { return SPEED * (double)(k + 1) * T; }

static void plain(long n, long steps) {
  for (long k = 0; k < steps; k++) pass(0, n, x[0], x[n - 1], plate_at(k));
}

/* A tile goes to the left by one block a step; what it leaves on its right is done with the next one. */
static void tiled(long n, long steps) {
  double beside[DEPTH], next[DEPTH];
  for (long k = 0; k < steps; k += DEPTH)
    for (long from = 0; from < n; from += TILE) {
      for (int s = 0; s < DEPTH; s++) {
        long low = from ? from - s : 0, high = from + TILE >= n ? n : from + TILE - s;
        next[s] = pass(low, high, from ? beside[s] : x[0], high == n ? x[n - 1] : x[high], plate_at(k + s));
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
  chain("w5-large", 10000000, 32, 1, runs);
}
