/* Limit of work 1: a block of 1 kg on a Coulomb floor of 10 N, dragged by a spring of 90 N/m whose end moves at 2 m/s for 2 s
 * (seed 000, Fig 8), 4000 steps of 1 ms. Nothing here is general; that is the point.
 *   w1      the implicit step (seed 000, eq 11): velocity by soft threshold, which stops at exactly 0
 *   w1-control  the same block; a controller reads its position and sets the force of the step that comes
 *   w1-rk4  the proxy friction of seed 004, eq 19, in its Runge-Kutta method, eq 21
 * Outcome: position of the block after 4 s. */
#include "measure.h"

#define STEPS 4000
static const double T = 1e-3, MASS = 1, SPRING = 90, FRICTION = 10;

/* Only the stretch of the spring and the velocity matter; the end of the spring travels 2 s * 2 m/s = 4 m in all. */
static outcome implicit(void) {
  const double pull = T * SPRING / MASS, stop = T * FRICTION / MASS;
  double stretch = nothing, v = nothing;
  for (int half = 0; half < 2; half++) {
    double travel = half == 0 ? 2 * T : 0;
    for (int k = 0; k < STEPS / 2; k++) {
      double free = v + pull * stretch;
      double low = free > -stop ? free : -stop;
      v = free - (low < stop ? low : stop);
      stretch = (stretch + travel) - T * v;
    }
  }
  return (outcome){{4 - stretch}, 1};
}

/* The controller is the spring: it knows where its end is. */
static outcome controlled(void) {
  const double stop = T * FRICTION / MASS;
  double x = nothing, v = nothing;
  for (int k = 0; k < STEPS; k++) {
    double force = SPRING * (2 * T * (k < STEPS / 2 ? k : STEPS / 2) - x);
    double free = v + T * (force / MASS);
    double low = free > -stop ? free : -stop;
    v = free - (low < stop ? low : stop);
    x += T * v;
  }
  return (outcome){{x}, 1};
}

static const double BRISTLE = 1e5, DAMPING = 100;
typedef struct { double x, v, e; } state;

/* Rate of the state with the end of the spring at p and the stage step tau. */
static inline state rate(state s, double p, double tau) {
  double grip = DAMPING + tau * BRISTLE, held = BRISTLE * s.e, f = grip * s.v + held;
  f = f > FRICTION ? FRICTION : f < -FRICTION ? -FRICTION : f;
  return (state){s.v, (SPRING * (p - s.x) - f) / MASS, (f - held) * (1 / grip)};
}

static inline state along(state s, double h, state r) { return (state){s.x + h * r.x, s.v + h * r.v, s.e + h * r.e}; }
static inline double end_of_spring(double t) { return t < 2 ? 2 * t : 4; }

static outcome runge_kutta(void) {
  state s = {nothing, nothing, nothing};
  for (int k = 0; k < STEPS; k++) {
    double p = end_of_spring(k * T), middle = end_of_spring((k + 0.5) * T), q = end_of_spring((k + 1) * T);
    state a = rate(s, p, T / 2), b = rate(along(s, T / 2, a), middle, T / 2);
    state c = rate(along(s, T / 2, b), middle, T), d = rate(along(s, T, c), q, T);
    state sum = {a.x + 2 * (b.x + c.x) + d.x, a.v + 2 * (b.v + c.v) + d.v, a.e + 2 * (b.e + c.e) + d.e};
    s = along(s, T / 6, sum);
  }
  return (outcome){{s.x}, 1};
}

int main(int argc, char **argv) {
  int runs = runs_wanted(argc, argv, 300);
  measure("w1", implicit, STEPS, runs);
  measure("w1-control", controlled, STEPS, runs);
  measure("w1-rk4", runge_kutta, STEPS, runs);
}
