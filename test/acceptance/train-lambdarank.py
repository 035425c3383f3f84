"""Trains LightGBM's example of a ranker (examples/lambdarank in its repository: rank.train and rank.test with their
.query files, train.conf) and prints LightGBM's own NDCG, and writes it to MODEL.txt.json. lambdarank.js then ranks with
the model and computes NDCG with `millrace evaluate`:

    python -m venv venv && venv/bin/pip install lightgbm numpy
    venv/bin/python test/acceptance/train-lambdarank.py DATA MODEL.txt
    node dist/test/acceptance/lambdarank.js --data DATA --model MODEL.txt
"""

import json
import sys
from pathlib import Path

import lightgbm as lgb

data, model = Path(sys.argv[1]), sys.argv[2]
ROUNDS = 100
# Options of the command line that the library does not accept.
NOT_PARAMETERS = {
    "task", "data", "valid_data", "num_trees", "output_model", "is_training_metric", "metric_freq",
    "is_save_binary_file", "tree_learner", "num_machines", "local_listen_port", "machine_list_file",
}

params = {"verbose": -1, "seed": 1}
for line in (data / "train.conf").read_text().splitlines():
    name, equals, value = line.split("#")[0].partition("=")
    if equals and name.strip() not in NOT_PARAMETERS:
        params[name.strip()] = value.strip()

train = lgb.Dataset(str(data / "rank.train"), params=params)
test = train.create_valid(str(data / "rank.test"), params=params)
evaluation = {}
booster = lgb.train(
    params, train, ROUNDS, valid_sets=[test], valid_names=["test"], callbacks=[lgb.record_evaluation(evaluation)]
)
booster.save_model(model)
Path(f"{model}.json").write_text(json.dumps({name: values[-1] for name, values in evaluation["test"].items()}))
print("  ".join(f"{name} {values[-1]:.4f}" for name, values in evaluation["test"].items()))
