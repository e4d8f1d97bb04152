/* Limit of work 2: a horizontal arm of two rods of 1 kg and 0.5 m, dry friction of 0.5 Nm in both joints by the bristles of seed 004,
 * eq 19, torques of seed 004, eq 28 (a ramp, then an oscillation of 100 rad/s); 100,000 Runge-Kutta steps of 0.1 ms.
 *   w2        bristles of 5000 Nm/rad and 1 Nm s/rad
 *   w2-stiff  bristles of 5e5 Nm/rad and 100 Nm s/rad
 * Outcome: angles of both joints after 10 s. */
#include "measure.h"

#define STEPS 100000
static const double T = 1e-4, FRICTION = 0.5, MASS = 1, LENGTH = 0.5;

typedef struct { double one, two; } joints;
typedef struct { joints angle, speed, bristle; } state;

static inline joints torque(double t) {
  if (t < 4) {
    double ramp = 0.3 * t < 0.52 ? 0.3 * t : 0.52;
    return (joints){ramp, ramp};
  }
  return (joints){0.336 + 0.144 * sin(100 * t), 0.336 + 0.144 * cos(100 * t)};
}

static inline double rub(double speed, double bristle, double stiffness, double grip, double *rate) {
  double held = stiffness * bristle, f = grip * speed + held;
  f = f > FRICTION ? FRICTION : f < -FRICTION ? -FRICTION : f;
  *rate = (f - held) * (1 / grip);
  return f;
}

static inline state rate(state s, joints drive, double stiffness, double grip) {
  const double rod = MASS * LENGTH * LENGTH / 3, far = MASS * LENGTH * LENGTH, half = far / 2;
  state r;
  drive.one -= rub(s.speed.one, s.bristle.one, stiffness, grip, &r.bristle.one);
  drive.two -= rub(s.speed.two, s.bristle.two, stiffness, grip, &r.bristle.two);
  r.angle = s.speed;
  /* Inertia in the absolute angles of the rods, where it is symmetric with one coupling; then back to joint angles. */
  double cosine = cos(s.angle.two), sine = sin(s.angle.two), couple = half * cosine, turn = half * sine;
  double spin = s.speed.one + s.speed.two;
  double one = drive.one - drive.two + turn * spin * spin, two = drive.two - turn * s.speed.one * s.speed.one;
  double first = rod + far, inverse = 1 / (first * rod - couple * couple);
  double a = (rod * one - couple * two) * inverse, b = (first * two - couple * one) * inverse;
  r.speed = (joints){a, b - a};
  return r;
}

static inline joints move(joints a, double h, joints r) { return (joints){a.one + h * r.one, a.two + h * r.two}; }
static inline state along(state s, double h, state r) {
  return (state){move(s.angle, h, r.angle), move(s.speed, h, r.speed), move(s.bristle, h, r.bristle)};
}

static inline outcome run(double stiffness, double damping) {
  double z = nothing, early = damping + T / 2 * stiffness, late = damping + T * stiffness;
  state s = {{z, z}, {z, z}, {z, z}};
  joints now = torque(0);
  for (int k = 0; k < STEPS; k++) {
    joints middle = torque((k + 0.5) * T), next = torque((k + 1) * T);
    state a = rate(s, now, stiffness, early), b = rate(along(s, T / 2, a), middle, stiffness, early);
    state c = rate(along(s, T / 2, b), middle, stiffness, late), d = rate(along(s, T, c), next, stiffness, late);
    s = along(along(along(along(s, T / 6, a), T / 3, b), T / 3, c), T / 6, d);
    now = next;
  }
  return (outcome){{s.angle.one, s.angle.two}, 2};
}
static outcome soft(void) { return run(5000, 1); }
static outcome stiff(void) { return run(5e5, 100); }

int main(int argc, char **argv) {
  int runs = runs_wanted(argc, argv, 5);
  measure("w2", soft, STEPS, runs);
  measure("w2-stiff", stiff, STEPS, runs);
}
