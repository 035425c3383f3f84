"""Models that are trained, changed or saved in unusual ways. train-boosters.py calls `train`."""

import json
import pickle
import tempfile
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from booster_vectors import COLUMNS, ROWS, SEED, data, probes, random, untrainable, write_lightgbm, write_xgboost

LIGHT = {"verbosity": -1, "num_leaves": 15, "min_data_in_leaf": 5, "seed": SEED, "num_threads": 1}
BOOST = {"max_depth": 4, "eta": 0.3, "seed": SEED, "nthread": 1}
CATEGORICAL = {"min_data_per_group": 1, "cat_smooth": 1, "min_data_in_leaf": 1}


@untrainable
def light(name, parameters, rounds=25, change=None, bounded=False, dataset=None, missing=0.1, **predicted):
    """Trains a model with `parameters` and applies `change`. `predicted` is the range of its trees that is saved."""
    x, y = data(missing=missing)
    given = {"data": x, "label": y, "params": parameters, "free_raw_data": False, **(dataset(x) if dataset else {})}
    booster = lgb.train({**LIGHT, **parameters}, lgb.Dataset(**given), rounds)
    booster = change(booster, x) if change else booster
    write_lightgbm(name, booster, probes(x, bounded=bounded), **predicted)


def lightgbm_kinds():
    light("quantised", {"use_quantized_grad": True, "num_grad_quant_bins": 4, "quant_train_renew_leaf": True})
    light("interaction", {"interaction_constraints": [[0, 1, 2], [3, 4, 5, 6, 7]]})
    light("cegb", {"cegb_tradeoff": 0.5, "cegb_penalty_split": 0.01, "cegb_penalty_feature_lazy": [0.01] * COLUMNS})
    for method in ("basic", "intermediate", "advanced"):
        light(f"monotone-{method}", {"monotone_constraints": [1, -1, 0, 0, 1, 0, 0, -1], "monotone_constraints_method": method, "monotone_penalty": 1.5})
    light("forced-splits", {"forcedsplits_filename": forced_splits()})
    light("forced-bins", {"max_bin": 3, "min_data_in_bin": 1})
    light("max-bin-2", {"max_bin": 2})
    light("max-bin-60000", {"max_bin": 60000, "min_data_in_bin": 1, "min_data_in_leaf": 1, "num_leaves": 400})
    light("bin-by-feature", {"max_bin_by_feature": [2, 3, 5, 9, 17, 33, 65, 255]})
    light("chain", {"num_leaves": 200, "max_depth": -1, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "lambda_l2": 0, "learning_rate": 1.0})
    light("beyond-4096-leaves", {"num_leaves": 6000, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "objective": "binary"}, rounds=2, dataset=many_rows)
    light("init-score", {}, dataset=lambda x: {"init_score": x[:, 0] * 0 + 3.5})
    light("weighted", {"objective": "tweedie"}, dataset=lambda x: {"weight": random.random(ROWS), "label": random.gamma(1, size=ROWS)})
    light("refit", {}, change=lambda booster, x: booster.refit(x, random.normal(size=ROWS), decay_rate=0.3))
    light("refit-linear", {"linear_tree": True}, bounded=True, change=lambda booster, x: booster.refit(x, random.normal(size=ROWS)))
    light("leaf-set", {}, change=lambda booster, x: booster.set_leaf_output(3, 2, -1.25e-17))
    light("shuffled", {}, change=lambda booster, x: booster.shuffle_models())
    light("rolled-back", {}, change=lambda booster, x: booster.rollback_one_iter())
    light("reloaded", {"linear_tree": True}, bounded=True, change=lambda booster, x: lgb.Booster(model_str=booster.model_to_string()))
    light("pickled", {}, change=lambda booster, x: pickle.loads(pickle.dumps(booster)))
    light("continued", {}, change=lambda booster, x: lgb.train({**LIGHT, "learning_rate": 0.01}, lgb.Dataset(x, random.normal(size=ROWS)), 10, init_model=booster))
    light("num-iteration", {}, num_iteration=7)
    light("start-iteration", {"objective": "multiclass", "num_class": 3}, num_iteration=5, start_iteration=4, dataset=lambda x: {"label": random.integers(0, 3, ROWS)})
    light("rf-of-some", {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, num_iteration=6)
    light("own-objective", {"objective": lambda preds, train: (preds - train.get_label(), np.ones(ROWS))})
    light("lone-class", {"objective": "multiclass", "num_class": 4}, dataset=lambda x: {"label": random.integers(0, 2, ROWS)})
    light("unbalanced", {"objective": "multiclassova", "num_class": 3, "is_unbalance": True, "sigmoid": 0.3}, dataset=lambda x: {"label": random.integers(0, 3, ROWS)})
    light("all-same", {"objective": "binary"}, dataset=lambda x: {"label": np.ones(ROWS)})
    light("huge-and-tiny", {}, dataset=lambda x: {"label": random.normal(size=ROWS) * 1e-300})
    light("dart-linear", {"boosting": "dart", "linear_tree": True, "uniform_drop": True, "xgboost_dart_mode": True}, bounded=True)
    light("rf-linear", {"boosting": "rf", "linear_tree": True, "bagging_freq": 1, "bagging_fraction": 0.6}, bounded=True)
    light("linear-single-leaf", {"linear_tree": True, "min_data_in_leaf": 10000}, bounded=True)
    light("linear-multiclass", {"linear_tree": True, "linear_lambda": 0.1, "objective": "multiclass", "num_class": 3}, bounded=True, dataset=lambda x: {"label": random.integers(0, 3, ROWS)})
    light("names", {}, dataset=lambda x: {"feature_name": NAMES})
    for linear in (False, True):
        categories_of_kinds(f"categories-{'linear' if linear else 'plain'}", {**CATEGORICAL, "linear_tree": linear})
    categories_of_kinds("categories-onehot", {**CATEGORICAL, "max_cat_to_onehot": 100000})
    categories_of_kinds("categories-zero-as-missing", {**CATEGORICAL, "zero_as_missing": True})
    categories_of_kinds("categories-without-missing", {**CATEGORICAL, "use_missing": False})
    pandas_categories("pandas", unused=False)
    pandas_categories("pandas-unused", unused=True)


# LightGBM replaces ASCII white space by underscores, and rejects characters that JSON must escape.
NAMES = ["a=b", "Tree=0", "äöü", "名前", "x\u00a0y", "a__b.c/d", "__proto__", "\u3000wide"]


def many_rows(x):
    rows = np.vstack([x] * 20)
    rows[:, 0] = random.normal(size=len(rows))
    return {"data": rows, "label": random.integers(0, 2, len(rows))}


def forced_splits():
    path = Path(tempfile.mkdtemp()) / "splits.json"
    path.write_text(json.dumps({"feature": 4, "threshold": 0.25, "left": {"feature": 1, "threshold": 0}, "right": {"feature": 0, "threshold": -1}}))
    return str(path)


@untrainable
def categories_of_kinds(name, parameters):
    """Thousands of categories with large gaps, negative and fractional codes, and numeric columns; all have missing values."""
    x, y = data(missing=0.1)
    x[:, 7] = random.integers(0, 3000, ROWS)
    x[:, 6] = random.choice([0, 1, 31, 32, 33, 63, 64, 65535, 1_000_003], ROWS)
    x[:, 5] = random.integers(-3, 6, ROWS) + random.choice([0, 0.5], ROWS)
    x[random.random(x.shape) < 0.1] = np.nan
    y = y + np.sin(np.nan_to_num(x[:, 7])) + (x[:, 6] == 32) + (x[:, 5] > 2)
    settings = {**LIGHT, **parameters}
    booster = lgb.train(settings, lgb.Dataset(x, y, categorical_feature=[5, 6, 7], params=settings), 25)
    rows = probes(x, bounded=parameters.get("linear_tree", False))
    rows[-20:, 5:] = random.choice([-0.5, -1.0, -0.0, 0.99, 31.9, 2999.0, 65536.0, 2.0**31 - 1, 2.0**31, 2.0**32 + 1, -(2.0**33)], (20, 3))
    write_lightgbm(name, booster, rows)


@untrainable
def pandas_categories(name, unused):
    import pandas

    x, y = data(missing=0.1)
    colours, sizes = ["red", "gelb", "bl,au", "|", "0"], [10, 20, 35]
    frame = pandas.DataFrame({f"c{i}": x[:, i] for i in range(6)})
    picked = [random.integers(0, len(one), ROWS) for one in (colours, sizes)]
    frame["colour"] = pandas.Categorical([colours[i] for i in picked[0]], colours)
    frame["size"] = pandas.Categorical([sizes[i] for i in picked[1]], sizes)
    codes = {6: colours, 7: sizes}
    if unused:
        # The column has only one value, so no tree can split by it.
        frame["size"] = pandas.Categorical([10] * ROWS, [10])
        codes[7] = [10]
    y = y + (picked[0] == 2) * 3 + (picked[1] == 1)
    booster = lgb.train({**LIGHT, **CATEGORICAL}, lgb.Dataset(frame, y), 25)
    rows = np.column_stack([frame.iloc[:60, :6], *(frame.iloc[:60, i].cat.codes for i in (6, 7))]).astype(float)
    write_lightgbm(name, booster, rows, frame.iloc[:60], codes)


@untrainable
def boost(name, parameters, rounds=25, change=None, iterations=(0, 0), types=None, columns=None, missing=0.1, label=None):
    """Like `light`. `columns` changes the columns, and `types` gives their types."""
    x, y = data(missing=missing)
    x = x if columns is None else columns(x)
    y = y if label is None else label(y)
    options = {"feature_types": types, "enable_categorical": types is not None}
    train = xgb.DMatrix(x, y, **options)
    booster = xgb.train({**BOOST, **parameters}, train, rounds)
    booster = booster if change is None else change(booster, train)
    rows = x[:60] if types is not None else np.clip(np.nan_to_num(probes(x), nan=np.nan, posinf=3e38, neginf=-3e38), -3e38, 3e38)
    write_xgboost(name, booster, rows, xgb.DMatrix(rows, **options), iterations)


def xgboost_kinds():
    boost("sliced", {}, change=lambda booster, train: booster[3:17])
    boost("sliced-by-two", {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2}, change=lambda booster, train: booster[2:12:2], label=lambda y: random.integers(0, 3, ROWS))
    boost("sliced-dart", {"booster": "dart", "rate_drop": 0.4}, change=lambda booster, train: booster[3:17])
    boost("continued", {}, change=lambda booster, train: xgb.train({**BOOST, "max_depth": 2}, train, 8, xgb_model=booster))
    boost("dart-continued", {"booster": "dart", "rate_drop": 0.4}, change=lambda booster, train: xgb.train({**BOOST, "booster": "dart", "rate_drop": 0.9, "one_drop": 1}, train, 8, xgb_model=booster))
    boost("gbtree-to-dart", {}, change=lambda booster, train: xgb.train({**BOOST, "booster": "dart", "rate_drop": 0.9}, train, 8, xgb_model=booster))
    for updater in ("refresh", "prune"):
        boost(f"update-{updater}", {"max_depth": 6}, change=lambda booster, train, updater=updater: updated(booster, train, updater))
    boost("reloaded", {}, change=lambda booster, train: pickle.loads(pickle.dumps(booster)))
    boost("attributes", {}, change=with_attributes)
    for stop in ("kept", "saved-best", "sliced", "continued"):
        boost(f"stopped-{stop}", {"eta": 1.7}, change=lambda booster, train, stop=stop: stopped(train, stop))
    boost("gblinear-missing", {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "greedy", "lambda": 0.1}, missing=0.3)
    boost("gblinear-poisson", {"booster": "gblinear", "objective": "count:poisson"}, label=lambda y: np.abs(y))
    boost("gblinear-classes", {"booster": "gblinear", "objective": "multi:softprob", "num_class": 3}, label=lambda y: np.digitize(y, np.quantile(y, [0.2, 0.3])))
    boost("monotone", {"monotone_constraints": "(1,-1,0,0,0,0,0,1)"})
    boost("interaction", {"interaction_constraints": "[[0,1,2],[3,4]]"})
    boost("sampled", {"colsample_bynode": 0.4, "subsample": 0.5, "sampling_method": "uniform", "max_delta_step": 0.1, "alpha": 0.5})
    boost("own-objective", {}, change=lambda booster, train: xgb.train({**BOOST, "base_score": 0.0}, train, 12, obj=lambda preds, of: (preds - of.get_label(), np.ones(ROWS))))
    boost("extreme-depth", {"max_depth": 60, "min_child_weight": 0, "grow_policy": "lossguide", "lambda": 0, "max_bin": 4096})
    boost("huge-values", {}, columns=lambda x: x * np.float32(3e38 / 1e7))
    boost("largest-values", {"tree_method": "hist"}, columns=lambda x: np.where(x > 0.5, np.finfo(np.float32).max, x))
    boost("denormals", {"tree_method": "exact"}, columns=lambda x: x * 1e-42)
    boost("constant", {"objective": "binary:logistic"}, label=lambda y: np.ones(ROWS))
    boost("huge-labels", {}, label=lambda y: y * 1e30)
    boost("names-none", {}, types=["float"] * COLUMNS)
    for strategy, onehot in (("partition", 1), ("onehot", 5000), ("mixed", 6)):
        boost(f"categories-{strategy}", {"tree_method": "hist", "max_cat_to_onehot": onehot, "max_cat_threshold": 4000, "min_child_weight": 0}, columns=categories, types=["q"] * 5 + ["c"] * 3)
    boost("categories-multi-output", {"tree_method": "approx", "max_cat_to_onehot": 2, "objective": "multi:softprob", "num_class": 3}, columns=categories, types=["q"] * 5 + ["c"] * 3, label=lambda y: random.integers(0, 3, ROWS))
    named("names", NAMES)
    frame_of_categories("pandas-categories")
    wrappers("wrappers")


def categories(x):
    x = x.copy()
    x[:, 7] = random.integers(0, 3000, ROWS)
    x[:, 6] = random.choice([0, 1, 31, 32, 33, 63, 64, 700], ROWS)
    x[:, 5] = random.integers(0, 5, ROWS)
    x[random.random(x.shape) < 0.05] = np.nan
    return x


def updated(booster, train, updater):
    settings = {**BOOST, "process_type": "update", "updater": updater, "refresh_leaf": True, "gamma": 3.0}
    return xgb.train(settings, train, booster.num_boosted_rounds() - 5, xgb_model=booster)


def with_attributes(booster, train):
    booster.set_attr(note='{"learner": NaN, "best": [Infinity]}', best_score="nan")
    return booster


def stopped(train, how):
    """Trains with early stopping. Each way to save the model must give the same scores."""
    callback = xgb.callback.EarlyStopping(rounds=3, save_best=how == "saved-best")
    booster = xgb.train({**BOOST, "eta": 1.7}, train, 60, evals=[(train, "train")], callbacks=[callback], verbose_eval=False)
    best = booster.best_iteration
    if how == "sliced":
        return booster[: best + 1]
    if how == "continued":
        booster = xgb.train(BOOST, train, 5, xgb_model=booster)
        booster.set_attr(best_iteration=None, best_score=None)
        return booster
    return booster[: best + 1] if how == "kept" else booster


@untrainable
def named(name, names):
    x, y = data(missing=0.1)
    booster = xgb.train(BOOST, xgb.DMatrix(x, y, feature_names=names), 10)
    write_xgboost(name, booster, x[:60], xgb.DMatrix(x[:60], feature_names=names))


@untrainable
def frame_of_categories(name):
    import pandas

    x, y = data(missing=0.1)
    colours, sizes = ["red", "gelb", "bl,au", "|", ""], [10, 20, 35]
    frame = pandas.DataFrame({f"c{i}": x[:, i] for i in range(6)})
    picked = [random.integers(0, len(one), ROWS) for one in (colours, sizes)]
    frame["colour"] = pandas.Categorical([colours[i] for i in picked[0]], colours)
    frame["size"] = pandas.Categorical([sizes[i] for i in picked[1]], sizes)
    matrix = xgb.DMatrix(frame, y + (picked[0] == 2) * 3, enable_categorical=True)
    booster = xgb.train({**BOOST, "tree_method": "hist"}, matrix, 25)
    rows = np.column_stack([x[:60, :6], picked[0][:60], picked[1][:60]]).astype(float)
    write_xgboost(name, booster, rows, xgb.DMatrix(frame.iloc[:60], enable_categorical=True), codes={6: colours, 7: sizes})


@untrainable
def wrappers(name):
    """Models with the interface of scikit-learn."""
    import sklearn  # noqa: F401

    x, y = data(missing=0.1)
    three = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    rows, group = probes(x)[:60], np.repeat(np.arange(20), 30)
    settings = {"n_estimators": 12, "max_depth": 3, "random_state": SEED, "n_jobs": 1}
    for kind, model in {
        "classifier": xgb.XGBClassifier(**settings).fit(x, three),
        "random-forest": xgb.XGBRFClassifier(**settings).fit(x, y > 0),
        "random-forest-regressor": xgb.XGBRFRegressor(**settings).fit(x, y),
        "ranker": xgb.XGBRanker(**settings, lambdarank_pair_method="topk", lambdarank_unbiased=True).fit(x, three, qid=group),
    }.items():
        write_xgboost(f"{name}-{kind}", pickle.loads(pickle.dumps(model)).get_booster(), rows, xgb.DMatrix(rows))
    settings = {"n_estimators": 12, "num_leaves": 9, "random_state": SEED, "n_jobs": 1, "verbosity": -1}
    for kind, model in {
        "classifier": lgb.LGBMClassifier(**settings).fit(x, three),
        "ranker": lgb.LGBMRanker(**settings, label_gain=[0, 1, 5]).fit(x, three, group=[30] * 20),
        "linear": lgb.LGBMRegressor(**settings, linear_tree=True).fit(x, y),
    }.items():
        write_lightgbm(f"{name}-{kind}", pickle.loads(pickle.dumps(model)).booster_, probes(x, bounded=True))


def train():
    lightgbm_kinds()
    xgboost_kinds()
