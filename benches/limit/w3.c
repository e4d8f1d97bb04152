/* Limit of work 3: a solid sphere of 0.3 kg and 0.2 m starts at 2 m/s without spin on a plane with mu = 0.1 and rolls after
 * 2 v / (7 mu g) = 0.58309 s (seed 004, simulation I, from resting height); 10,000 steps of 0.1 ms.
 *   w3      implicit impulses: a rigid unilateral plane and Coulomb's cone at the end of the step
 *   w3-rk4  spring and damper along the normal, bristles along the plane (seed 004, eq 19) in the Runge-Kutta method
 * The sphere keeps position, rotation (a quaternion), velocity and spin, as any rigid body would.
 * Outcome: time at the end of the first step whose slip is below 1e-4 m/s. */
#include "measure.h"

#define STEPS 10000
static const double T = 1e-4, MASS = 0.3, RADIUS = 0.2, MU = 0.1, START = 2, GRAVITY = 9.8, ROLLING = 1e-4;

typedef struct { double x, y, z; } vector;
typedef struct { double w, x, y, z; } quaternion;
typedef struct { vector position, velocity, spin; quaternion rotation; double bristle[2]; } state;

static inline double slip_speed(state s) {
  return hypot(s.velocity.x - RADIUS * s.spin.y, s.velocity.y + RADIUS * s.spin.x);
}

/* Half of spin times rotation: the rate of the rotation. */
static inline quaternion turning(vector o, quaternion q) {
  return (quaternion){-0.5 * (o.x * q.x + o.y * q.y + o.z * q.z), 0.5 * (o.x * q.w + o.y * q.z - o.z * q.y),
                      0.5 * (o.y * q.w + o.z * q.x - o.x * q.z), 0.5 * (o.z * q.w + o.x * q.y - o.y * q.x)};
}

static inline state at_start(double height) {
  double z = nothing;
  return (state){{z, z, height}, {START + z, z, z}, {z, z, z}, {1 + z, z, z, z}, {z, z}};
}

static inline state implicit_step(state s) {
  const double turn = 5 / (2 * MASS * RADIUS), grip = 2 * MASS / 7; /* spin per impulse, impulse per slip */
  s.velocity.z -= T * GRAVITY;
  double press = -MASS * (s.velocity.z + (s.position.z - RADIUS) * (1 / T));
  press = press > 0 ? press : 0;
  s.velocity.z += press / MASS;
  double px = -grip * (s.velocity.x - RADIUS * s.spin.y), py = -grip * (s.velocity.y + RADIUS * s.spin.x);
  double square = px * px + py * py, limit = MU * press;
  if (square > limit * limit) {
    double shorter = limit / sqrt(square);
    px *= shorter;
    py *= shorter;
  }
  s.velocity.x += px / MASS;
  s.velocity.y += py / MASS;
  s.spin.x += turn * py;
  s.spin.y -= turn * px;
  s.position.x += T * s.velocity.x;
  s.position.y += T * s.velocity.y;
  s.position.z += T * s.velocity.z;
  quaternion r = turning(s.spin, s.rotation), q = s.rotation;
  q = (quaternion){q.w + T * r.w, q.x + T * r.x, q.y + T * r.y, q.z + T * r.z};
  double unit = 1.5 - 0.5 * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z); /* 1/length, to first order */
  s.rotation = (quaternion){q.w * unit, q.x * unit, q.y * unit, q.z * unit};
  return s;
}

static const double STIFFNESS = 1e7, DAMPING = 10;

static inline state rate(state s, double grip) {
  const double turn = 5 / (2 * MASS * RADIUS);
  double depth = RADIUS - s.position.z, press = STIFFNESS * depth - DAMPING * s.velocity.z;
  press = depth > 0 && press > 0 ? press : 0;
  double hx = STIFFNESS * s.bristle[0], hy = STIFFNESS * s.bristle[1];
  double fx = grip * (s.velocity.x - RADIUS * s.spin.y) + hx, fy = grip * (s.velocity.y + RADIUS * s.spin.x) + hy;
  double square = fx * fx + fy * fy, limit = MU * press;
  if (square > limit * limit) {
    double shorter = limit / sqrt(square);
    fx *= shorter;
    fy *= shorter;
  }
  return (state){s.velocity, {-fx / MASS, -fy / MASS, press / MASS - GRAVITY}, {-turn * fy, turn * fx, 0},
                 turning(s.spin, s.rotation), {(fx - hx) * (1 / grip), (fy - hy) * (1 / grip)}};
}

static inline vector move(vector a, double h, vector r) {
  return (vector){a.x + h * r.x, a.y + h * r.y, a.z + h * r.z};
}
static inline state along(state s, double h, state r) {
  quaternion q = s.rotation, d = r.rotation;
  return (state){move(s.position, h, r.position), move(s.velocity, h, r.velocity), move(s.spin, h, r.spin),
                 {q.w + h * d.w, q.x + h * d.x, q.y + h * d.y, q.z + h * d.z},
                 {s.bristle[0] + h * r.bristle[0], s.bristle[1] + h * r.bristle[1]}};
}

static inline state runge_kutta_step(state s) {
  const double early = DAMPING + T / 2 * STIFFNESS, late = DAMPING + T * STIFFNESS;
  state a = rate(s, early), b = rate(along(s, T / 2, a), early);
  state c = rate(along(s, T / 2, b), late), d = rate(along(s, T, c), late);
  return along(along(along(along(s, T / 6, a), T / 3, b), T / 3, c), T / 6, d);
}

/* The timed loop only steps; the loop that looks for the end of slip is another. */
#define RUNS(name, step, height)                                                       \
  static double end_of_slip_##name(void) {                                             \
    state s = at_start(height);                                                        \
    for (int k = 1; k <= STEPS; k++)                                                   \
      if (slip_speed(s = step(s)) < ROLLING) return k * T;                             \
    return -1;                                                                         \
  }                                                                                    \
  static volatile double kept_##name;                                                  \
  static outcome name(void) {                                                          \
    static double end = 0;                                                             \
    if (end == 0) end = end_of_slip_##name();                                          \
    state s = at_start(height);                                                        \
    for (int k = 0; k < STEPS; k++) s = step(s);                                       \
    kept_##name = s.position.x + s.position.z + s.rotation.w + s.rotation.x + s.rotation.y + s.rotation.z; \
    return (outcome){{end}, 1};                                                        \
  }
RUNS(implicit, implicit_step, RADIUS)
RUNS(runge_kutta, runge_kutta_step, RADIUS - MASS * GRAVITY / STIFFNESS)

int main(int argc, char **argv) {
  int runs = runs_wanted(argc, argv, 50);
  measure("w3", implicit, STEPS, runs);
  measure("w3-rk4", runge_kutta, STEPS, runs);
}
