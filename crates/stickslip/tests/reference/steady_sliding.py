"""Eigenvalues of steady sliding from characteristic polynomials derived by hand, for tests/steady_sliding.rs.

Subloading friction, exponents 1 (science page subloading.md, section 3, number 1), in N, mm, s:
    (s + r v) [M (1 - p) s^3 + M b s^2 + (K (1 - p) - F a) s + K b],
    a = kappa (mu/mu_k - 1), b = kappa v/mu_k + eta/mu_s, p = F a/alpha, mu = (kappa v + eta)/b.
LuGre with a steady curve g(v): z' = v - s0 v z/g, force s0 z + s1 z' + s2 v. At s0 z = g:
    (M s^2 + s2 s + K) (s + s0 v/g) + (s0 + s1 s) s v g'/g.
Dahl is LuGre with a constant g and s1 = s2 = 0.
"""
import numpy as np

print("subloading: F alpha r kappa eta mu_s mu_k K M v")
for case in [
    (100, 1000, 100, 10, 0.002, 0.4, 0.2, 10, 10, 1e-3),
    (100, 1000, 100, 10, 0.002, 0.4, 0.2, 100, 2, 0.05),
    (10, 1000, 1000, 10, 0.002, 0.4, 0.2, 10, 10, 1e-2),
    (60, 3000, 200, 4, 0.01, 0.5, 0.3, 25, 0.5, 0.02),
]:
    F, alpha, r, kappa, eta, mu_s, mu_k, K, M, v = case
    b = kappa * v / mu_k + eta / mu_s
    mu = (kappa * v + eta) / b
    a = kappa * (mu / mu_k - 1)
    p = F * a / alpha
    roots = np.concatenate([[-r * v], np.roots([M * (1 - p), M * b, K * (1 - p) - F * a, K * b])])
    print(case, sorted(((z.real, z.imag) for z in roots), reverse=True))

print("lugre: M K s0 s1 s2 Fk Fs vs v")
for case in [
    (1, 100, 1e5, 100, 0.5, 10, 12, 0.01, 0.02),
    (1, 100, 1e5, 100, 5, 10, 12, 0.01, 0.05),
    (2, 300, 2e4, 0, 0, 10, 10, 0.01, 0.05),
]:
    M, K, s0, s1, s2, Fk, Fs, vs, v = case
    g = Fk + (Fs - Fk) * np.exp(-((v / vs) ** 2))
    slope = (Fs - Fk) * np.exp(-((v / vs) ** 2)) * -2 * v / vs**2
    q = v * slope / g
    roots = np.roots(np.polyadd(np.polymul([M, s2, K], [1, s0 * v / g]), np.polymul([s1, s0], [q, 0])))
    print(case, sorted(((z.real, z.imag) for z in roots), reverse=True))
