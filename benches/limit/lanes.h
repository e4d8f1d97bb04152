/* Common to the limit programs that move several runs or blocks side by side. */

/* Four numbers side by side. */
typedef double vector __attribute__((vector_size(32)));
typedef long long mask __attribute__((vector_size(32)));
static inline vector all(double x) { return (vector){x, x, x, x}; }
static inline vector choose(mask m, vector yes, vector no) { return (vector)((m & (mask)yes) | (~m & (mask)no)); }

/* e to the power of numbers from -700 to 0, to about one unit in the last place. */
static inline vector exponential(vector x) {
  const vector round = all(6755399441055744.0);
  vector k = (x * 1.4426950408889634 + round) - round;
  vector r = (x - k * 0.6931471805598903) - k * 5.497923018708371e-14, r2 = r * r, r4 = r2 * r2;
  vector a = 0.5 + 0.1666666666666667 * r, b = 0.041666666666666685 + 0.008333333333326141 * r;
  vector c = 0.0013888888888874407 + 0.00019841269874802016 * r, d = 2.4801587347319583e-5 + 2.7557255424039363e-6 * r;
  vector e = 2.755725293228582e-7 + 2.5105207013721856e-8 * r + 2.092158246563221e-9 * r2;
  vector y = 1 + (r + r2 * ((a + b * r2) + ((c + d * r2) + e * r4) * r4));
  return y * (vector)(((mask)(k + round) << 52) + ((mask)all(0) | (1023LL << 52)));
}
