/* Common to the limit programs: the least CPU time of several runs, and one line of result for each variant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_OUTCOME 2
typedef struct { double value[MAX_OUTCOME]; int count; } outcome;

/* Read at run time, so that the compiler cannot compute the run in advance. */
static volatile double nothing = 0.0;

static double cpu_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Prints: name, least nanoseconds per step, outcome. */
static void measure(const char *name, outcome (*run)(void), int steps, int runs) {
  double least = INFINITY;
  outcome result = run();
  for (int i = 0; i < runs; i++) {
    double start = cpu_nanoseconds();
    result = run();
    double each = (cpu_nanoseconds() - start) / steps;
    if (each < least) least = each;
  }
  printf("%s %.4f", name, least);
  for (int i = 0; i < result.count; i++) printf(" %.17g", result.value[i]);
  printf("\n");
}

static int runs_wanted(int argc, char **argv, int otherwise) { return argc > 1 ? atoi(argv[1]) : otherwise; }
