"""Environments: Gymnasium's own checks, single and vectorised with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import stickslip as ss

pytest.importorskip("gymnasium")

CART = ss.Scenario(step=1e-3, duration=0.5).mass("cart", 1.0).friction("rail", "cart", kinetic=2.0, static=3.0).actuator("motor", "cart")
TASK = dict(
    actions=["motor"],
    observations=["cart.position", "cart.velocity"],
    reward="-(cart.position - 0.1)^2 - 1e-4*motor^2",
    terminated="abs(cart.position) > 0.2",
    limits={"motor": (-10.0, 10.0)},
    steps=10,
)


def test_gymnasium_accepts_it() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(ss.gym.make(CART, **TASK), skip_render_check=True)


def test_rewards_ends_and_limits() -> None:
    env = ss.gym.make(CART, **TASK)
    env.reset(seed=1)
    # 100 N are cut to 10 N: 8 m/s² after friction; v = a·t.
    observation, reward, ended, late, _ = env.step([100.0])
    assert observation[1] == pytest.approx(0.08)
    assert reward == pytest.approx(-((observation[0] - 0.1) ** 2) - 1e-4 * 100)
    for _ in range(48):
        observation, _, ended, late, _ = env.step([10.0])
        if ended:
            break
    assert ended and abs(observation[0]) > 0.2 and not late
    env.reset()
    for _ in range(50):
        _, _, ended, late, _ = env.step([0.0])
    assert late and not ended
    with pytest.raises(ss.Error):
        env.step([np.nan])
    with pytest.raises(ss.Error):
        env.step([1.0, 2.0])


def test_many_at_once_have_the_numbers_of_single_ones() -> None:
    count = 6
    many = ss.gym.make_vector(CART, count, **TASK)
    singles = [ss.gym.make(CART, **TASK) for _ in range(count)]
    together, _ = many.reset(seed=3)
    for env, row in zip(singles, together):
        assert np.array_equal(env.reset()[0], row)
    random, fresh = np.random.default_rng(5), [False] * count
    for _ in range(80):
        actions = random.uniform(-12, 12, size=(count, 1)) + np.linspace(0, 9, count)[:, None]
        rows = many.step(actions)
        for i, env in enumerate(singles):
            if fresh[i]:
                # Begins again: no reward, nothing ended.
                assert np.array_equal(env.reset()[0], rows[0][i]) and rows[1][i] == 0
                fresh[i] = False
                continue
            alone = env.step(actions[i])
            assert np.array_equal(alone[0], rows[0][i])
            assert alone[1:4] == (rows[1][i], rows[2][i], rows[3][i])
            fresh[i] = bool(alone[2] or alone[3])


def test_starts_differ_by_seed_only() -> None:
    env = ss.gym.make_vector(CART, 3, noise={"cart": 0.01}, **TASK)
    first, again, other = env.reset(seed=1)[0], env.reset(seed=1)[0], env.reset(seed=2)[0]
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert len(np.unique(first[:, 0])) == 3


def test_bodies_in_space_start_elsewhere_but_upright() -> None:
    scene = ss.Scenario(step=1e-3, duration=0.1, gravity=[0, 0, -9.81]).rigid_body("ball", 1.0, shape={"sphere": 0.1}, position=[1, 2, 3])
    scene = scene.mass("cart", 1.0).actuator("motor", "cart")
    task = dict(actions=["motor"], observations=["ball.position.x", "ball.position.y", "ball.position.z"], reward="0", noise={"ball": 0.1})
    env, many = ss.gym.make(scene, **task), ss.gym.make_vector(scene, 5, **task)
    start = env.reset(seed=4)[0]
    assert len(set((start - [1, 2, 3]).tolist())) == 3 and np.abs(start - [1, 2, 3]).max() < 0.6
    assert env.simulation.position("ball")[3:].tolist() == [1, 0, 0, 0]
    assert np.array_equal(many.reset(seed=4)[0][0], start)


def test_a_failed_run_ends_its_environment_alone() -> None:
    # An explicit step of a spring that stiffens: overflows where the motor pulls, and nowhere else.
    cart = ss.Scenario(step=0.1, duration=1e3, integrator="rk4").mass("cart", 1.0).actuator("motor", "cart")
    cart = cart.element("wild", "equations", "cart", force="1e6*x")
    many = ss.gym.make_vector(cart, 3, actions=["motor"], observations=["cart.position"], reward="1", steps=100)
    many.reset()
    observation, reward, ended, late, info = many.step([[0.0], [1.0], [0.0]])
    assert ended.tolist() == [False, True, False] and not late.any()
    assert info["_error"].tolist() == ended.tolist() and info["error"][1] and not info["error"][0]
    observation, reward, ended, late, info = many.step([[0.0], [0.0], [0.0]])
    assert observation.tolist() == [[0.0]] * 3 and reward.tolist() == [1, 0, 1] and not ended.any() and info == {}
    single = ss.gym.make(cart, actions=["motor"], observations=["cart.position"], reward="1", steps=100)
    single.reset()
    _, _, ended, late, info = single.step([1.0])
    assert ended and not late and info["error"]


def test_wrappers_of_gymnasium_take_it() -> None:
    from gymnasium.wrappers import RecordEpisodeStatistics, RescaleAction
    from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordMany

    env = RecordEpisodeStatistics(RescaleAction(ss.gym.make(CART, **TASK), -1.0, 1.0))
    env.reset(seed=1)
    total, late = 0.0, False
    while not late:
        _, reward, _, late, info = env.step(np.array([0.0]))
        total += float(reward)
    assert info["episode"]["r"] == pytest.approx(total) and info["episode"]["l"] == 50
    many = RecordMany(ss.gym.make_vector(CART, 4, **TASK))
    many.reset(seed=1)
    for _ in range(50):
        *_, info = many.step(np.zeros((4, 1)))
    assert info["episode"]["l"].tolist() == [50] * 4


def test_wrong_tasks_are_refused() -> None:
    with pytest.raises(ss.Error, match="formula"):
        ss.gym.make(CART, **{**TASK, "reward": "cart.speed +"})
    with pytest.raises(KeyError, match="cart.position"):
        ss.gym.make(CART, **{**TASK, "observations": ["cart.positon"]})
    with pytest.raises(KeyError):
        ss.gym.make(CART, **{**TASK, "actions": ["rail"]})


def test_wrong_formulas_name_the_column_that_is_meant() -> None:
    for formula, part in {
        "-abs(cart.positon)": 'unknown name "cart.positon"; did you mean "cart.position"?',
        "cart.position + motr": 'unknown name "motr"; did you mean "motor"?',
        "cart.position + quux": 'unknown name "quux"\n',
        "abbs(cart.position)": "abs",
    }.items():
        for key in ("reward", "terminated"):
            with pytest.raises(ss.ScenarioError) as caught:
                ss.gym.make(CART, **{**TASK, key: formula})
            text = str(caught.value)
            assert part in text and "v0_" not in text, text
            assert "help: names that it may use: t, cart.position, cart.velocity," in text and "motor" in text


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, [1]])
def test_wrong_seeds_are_refused(seed: object) -> None:
    for env in (ss.gym.make(CART, **TASK), ss.gym.make_vector(CART, 2, **TASK)):
        with pytest.raises(ss.ArgumentError, match="seed"):
            env.reset(seed=seed)
        env.reset(seed=np.int64(3))


def test_actions_are_real() -> None:
    env = ss.gym.make(CART, **TASK)
    env.reset()
    for action in ([1j], np.array([1j]), [np.complex64(1j)], np.ma.array([1.0], mask=[True])):
        with pytest.raises(ss.ArgumentError, match="finite numbers"):
            env.step(action)
    with pytest.raises(ss.ArgumentError, match="bounds"):
        ss.gym.make(CART, **{**TASK, "limits": {"motor": (-1j, 1j)}})
    with pytest.raises(ss.ArgumentError, match="deviation"):
        ss.gym.make(CART, noise={"cart": np.complex64(1)}, **TASK)
