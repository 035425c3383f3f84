"""Trains small LightGBM and XGBoost models of many kinds. Writes them with their inputs and the predictions of their own
libraries, in the layout that model-vectors.js reads:

    python -m venv venv && venv/bin/pip install lightgbm xgboost numpy
    venv/bin/python test/acceptance/train-boosters.py FOLDER [SEED]
    node dist/test/acceptance/model-vectors.js --vectors FOLDER
"""

import lightgbm as lgb
import numpy as np
import xgboost as xgb

import odd_boosters
from booster_vectors import COLUMNS, ROWS, SEED, data, probes, untrainable, write_lightgbm, write_xgboost


def targets(y, objective, classes):
    if classes > 1:
        return np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])).astype(float)
    if objective in ("binary", "cross_entropy", "cross_entropy_lambda", "binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic"):
        return (y > np.median(y)).astype(float)
    if objective in ("poisson", "gamma", "tweedie", "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft", "reg:squaredlogerror", "mape"):
        return np.abs(y) + 0.1
    if objective in ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise", "rank:map"):
        return np.digitize(y, np.quantile(y, [0.5, 0.8] if objective != "rank:map" else [0.7])).astype(float)
    return y


@untrainable
def lightgbm_case(name, parameters, missing=0.0, zeros=0.0, categorical=0, rounds=25, early=False):
    x, y = data(missing, zeros, categorical)
    objective = parameters.get("objective", "regression")
    label = targets(y, objective, parameters.get("num_class", 1))
    columns = [COLUMNS - 1 - c for c in range(categorical)]
    group = [60] * (ROWS // 60) if objective in ("lambdarank", "rank_xendcg") else None
    settings = {"verbosity": -1, "num_leaves": 15, "min_data_in_leaf": 5, "seed": SEED, "num_threads": 1, **parameters}
    train = lgb.Dataset(x, label, group=group, categorical_feature=columns, params=settings, free_raw_data=False)
    callbacks, valid = [], []
    if early:
        valid = [lgb.Dataset(x[:200], label[:200], reference=train, categorical_feature=columns)]
        callbacks = [lgb.early_stopping(2, verbose=False)]
    booster = lgb.train(settings, train, rounds, valid_sets=valid, callbacks=callbacks)
    rows = probes(x, bounded=parameters.get("linear_tree", False))
    write_lightgbm(name, booster, rows)


@untrainable
def xgboost_case(name, parameters, missing=0.0, zeros=0.0, categorical=0, rounds=25, early=False, targets_count=1):
    x, y = data(missing, zeros, categorical)
    objective = parameters.get("objective", "reg:squarederror")
    label = targets(y, objective, parameters.get("num_class", 1))
    if targets_count > 1:
        label = np.stack([label * (i + 1) + i for i in range(targets_count)], axis=1)
    types = ["q"] * COLUMNS
    for c in range(categorical):
        types[COLUMNS - 1 - c] = "c"
    settings = {"max_depth": 4, "eta": 0.3, "seed": SEED, "nthread": 1, **parameters}
    group = [60] * (ROWS // 60) if objective.startswith("rank:") else None
    train = xgb.DMatrix(x, label, feature_types=types, enable_categorical=categorical > 0)
    if group:
        train.set_group(group)
    if objective == "survival:aft":
        train.set_float_info("label_lower_bound", label)
        train.set_float_info("label_upper_bound", label)
    more = {}
    if early:
        more = {"evals": [(train, "train")], "early_stopping_rounds": 2, "verbose_eval": False}
    booster = xgb.train(settings, train, rounds, **more)
    rows = probes(x)
    if categorical:
        # XGBoost rejects negative and infinite categories.
        for c in range(categorical):
            rows[:, COLUMNS - 1 - c] = np.where(np.isfinite(rows[:, COLUMNS - 1 - c]) & (rows[:, COLUMNS - 1 - c] >= 0) & (rows[:, COLUMNS - 1 - c] < 40), np.trunc(rows[:, COLUMNS - 1 - c]), np.nan)
    rows = np.where(np.isinf(rows) | (np.abs(rows) > 1e38), np.nan, rows)
    matrix = xgb.DMatrix(rows, feature_types=types, enable_categorical=categorical > 0)
    last = (0, booster.best_iteration + 1) if early else (0, 0)
    write_xgboost(name, booster, rows, matrix, last)


LIGHTGBM = ["regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie", "binary", "cross_entropy", "cross_entropy_lambda", "lambdarank", "rank_xendcg"]
for objective in LIGHTGBM:
    lightgbm_case(f"objective-{objective}", {"objective": objective}, missing=0.1)
lightgbm_case("reg-sqrt", {"objective": "regression", "reg_sqrt": True})
lightgbm_case("sigmoid-2", {"objective": "binary", "sigmoid": 2.5})
lightgbm_case("multiclass", {"objective": "multiclass", "num_class": 4}, missing=0.1)
lightgbm_case("multiclassova", {"objective": "multiclassova", "num_class": 3}, missing=0.1)
lightgbm_case("dart", {"boosting": "dart"}, missing=0.1)
lightgbm_case("goss", {"data_sample_strategy": "goss"})
for objective in ("regression", "binary"):
    lightgbm_case(f"rf-{objective}", {"boosting": "rf", "objective": objective, "bagging_freq": 1, "bagging_fraction": 0.6})
lightgbm_case("rf-multiclass", {"boosting": "rf", "objective": "multiclass", "num_class": 3, "bagging_freq": 1, "bagging_fraction": 0.6})
lightgbm_case("zero-as-missing", {"zero_as_missing": True}, missing=0.1, zeros=0.2)
lightgbm_case("use-missing-false", {"use_missing": False}, missing=0.1, zeros=0.1)
lightgbm_case("categorical", {"min_data_per_group": 5, "cat_smooth": 1}, missing=0.1, categorical=2)
lightgbm_case("categorical-onehot", {"max_cat_to_onehot": 50, "min_data_per_group": 5}, categorical=2)
lightgbm_case("categorical-multiclass", {"objective": "multiclass", "num_class": 3, "min_data_per_group": 5, "cat_smooth": 1}, missing=0.05, categorical=2)
lightgbm_case("linear-tree", {"linear_tree": True}, missing=0.0)
lightgbm_case("linear-tree-missing", {"linear_tree": True}, missing=0.1)
lightgbm_case("linear-categorical", {"linear_tree": True, "min_data_per_group": 5, "cat_smooth": 1}, categorical=1)
lightgbm_case("extra-trees", {"extra_trees": True}, missing=0.1)
lightgbm_case("stumps", {"num_leaves": 2}, missing=0.1)
lightgbm_case("deep", {"num_leaves": 255, "min_data_in_leaf": 1}, missing=0.1)
lightgbm_case("single-leaf", {"min_data_in_leaf": 10000})
lightgbm_case("max-bin-16", {"max_bin": 16}, missing=0.1)
lightgbm_case("max-bin-4000", {"max_bin": 4000, "min_data_in_bin": 1}, missing=0.1)
lightgbm_case("monotone", {"monotone_constraints": [1] + [0] * (COLUMNS - 1)})
lightgbm_case("early-stopping", {"learning_rate": 0.5}, early=True, rounds=60)
lightgbm_case("boost-from-average-off", {"boost_from_average": False})
lightgbm_case("bagging", {"bagging_freq": 2, "bagging_fraction": 0.5, "feature_fraction": 0.5}, missing=0.1)
lightgbm_case("path-smooth", {"path_smooth": 1.0, "lambda_l1": 0.1, "lambda_l2": 1.0}, missing=0.1)

XGBOOST = ["reg:squarederror", "reg:squaredlogerror", "reg:logistic", "reg:pseudohubererror", "reg:absoluteerror", "binary:logistic", "binary:logitraw", "binary:hinge", "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft", "rank:ndcg", "rank:pairwise", "rank:map"]
for objective in XGBOOST:
    xgboost_case(f"objective-{objective.replace(':', '-')}", {"objective": objective}, missing=0.1)
xgboost_case("quantile", {"objective": "reg:quantileerror", "quantile_alpha": 0.3}, missing=0.1)
xgboost_case("quantiles", {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]}, missing=0.1)
xgboost_case("expectile", {"objective": "reg:expectileerror", "expectile_alpha": 0.3})
for strategy in ("one_output_per_tree", "multi_output_tree"):
    xgboost_case(f"targets-{strategy}", {"multi_strategy": strategy, "tree_method": "hist"}, targets_count=3)
    xgboost_case(f"softprob-{strategy}", {"objective": "multi:softprob", "num_class": 3, "multi_strategy": strategy, "tree_method": "hist"}, missing=0.1)
xgboost_case("softmax", {"objective": "multi:softmax", "num_class": 3}, missing=0.1)
xgboost_case("dart", {"booster": "dart", "rate_drop": 0.3}, missing=0.1)
xgboost_case("dart-forest", {"booster": "dart", "rate_drop": 0.3, "normalize_type": "forest", "sample_type": "weighted"}, missing=0.1)
xgboost_case("dart-softprob", {"booster": "dart", "rate_drop": 0.3, "objective": "multi:softprob", "num_class": 3}, missing=0.1)
xgboost_case("gblinear", {"booster": "gblinear"}, missing=0.1)
xgboost_case("gblinear-logistic", {"booster": "gblinear", "objective": "binary:logistic"})
xgboost_case("gblinear-softprob", {"booster": "gblinear", "objective": "multi:softprob", "num_class": 3})
xgboost_case("forest", {"num_parallel_tree": 5, "subsample": 0.6, "colsample_bynode": 0.6, "eta": 1.0}, missing=0.1, rounds=1)
xgboost_case("boosted-forest", {"num_parallel_tree": 3, "subsample": 0.6}, missing=0.1, rounds=5)
xgboost_case("forest-softprob-early", {"num_parallel_tree": 2, "objective": "multi:softprob", "num_class": 3, "eta": 1.2}, missing=0.1, rounds=60, early=True)
xgboost_case("early", {"eta": 1.8}, missing=0.1, rounds=60, early=True)
xgboost_case("dart-early", {"booster": "dart", "rate_drop": 0.5, "eta": 1.8}, rounds=30, early=True)
xgboost_case("categorical", {"tree_method": "hist", "max_cat_to_onehot": 1}, missing=0.1, categorical=2)
xgboost_case("categorical-onehot", {"tree_method": "hist", "max_cat_to_onehot": 100}, missing=0.1, categorical=2)
xgboost_case("lossguide", {"grow_policy": "lossguide", "max_leaves": 40, "max_depth": 0, "tree_method": "hist"}, missing=0.1)
xgboost_case("exact", {"tree_method": "exact"}, missing=0.1)
xgboost_case("approx", {"tree_method": "approx", "max_bin": 20}, missing=0.1)
xgboost_case("base-score", {"base_score": 0.75, "objective": "binary:logistic"}, missing=0.1)
xgboost_case("base-score-zero", {"base_score": 0.0}, missing=0.1)
xgboost_case("stump", {"max_depth": 1}, missing=0.1)
xgboost_case("leaf-only", {"min_child_weight": 1e9})
xgboost_case("deep", {"max_depth": 12, "min_child_weight": 0}, missing=0.1)
xgboost_case("gamma-pruned", {"gamma": 5.0}, missing=0.1)
odd_boosters.train()
