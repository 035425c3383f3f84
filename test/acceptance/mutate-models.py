"""Damages model files of every supported format, and compares the results with those of LightGBM and XGBoost:

    npm run build
    venv/bin/python test/acceptance/mutate-models.py FOLDER [--count 500] [--seed 1]

Each format is truncated at every line (at bytes if it has only one line), and each tree is removed and repeated. Then
lines and digits are changed at random until there are `--count` mutants. A mutant is a difference if Millrace reads it, but
the library rejects it or scores it differently. The known kinds of differences are in CLASSES, and docs/models.md explains
them; any other difference fails. No library reads the JSON of its own dump_model, so such a mutant must score like the
original model.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import select
import subprocess
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

CLASSES = {
    "unread": "a part that no score depends on is damaged: the library rejects the file, and the scores equal those of the intact file",
    "values": "in the JSON of a dump a value changed, or two lines of the same form were exchanged: the format has no checksum",
    "later": "in the JSON of LightGBM the first trees are missing, as after dump_model(start_iteration=…): read with a warning",
    "trees": "in a dump of XGBoost whole trees are missing, repeated or exchanged: the format neither counts nor numbers them",
}
COLUMNS, ROWS = 6, 400
NAMES = [f"c{i}" for i in range(COLUMNS)]
PLAIN = ["q"] * COLUMNS
TYPES = PLAIN[1:] + ["c"]
SECONDS = 20


# ---------------------------------------------------------------------------------------------------- the models


def data(rng):
    x = rng.normal(size=(ROWS, COLUMNS))
    x[:, 1] = np.round(x[:, 1] * 2)
    x[:, -1] = rng.integers(0, 12, ROWS)
    x[rng.random(x.shape) < 0.05] = np.nan
    base = np.nan_to_num(x)
    y = base[:, 0] + np.sin(base[:, 1]) + (base[:, -1] % 3) + rng.normal(size=ROWS) / 10
    return x, y


def light(x, y, rounds=6, **parameters):
    settings = {"verbosity": -1, "num_leaves": 5, "min_data_in_leaf": 5, "min_data_per_group": 5, "cat_smooth": 1, "seed": 1, "num_threads": 1, **parameters}
    return lgb.train(settings, lgb.Dataset(x, y, feature_name=NAMES, categorical_feature=[COLUMNS - 1], params=settings), rounds)


def boost(x, y, rounds=6, types=TYPES, **parameters):
    train = xgb.DMatrix(x, y, feature_names=NAMES, feature_types=types, enable_categorical=True)
    return xgb.train({"max_depth": 2, "eta": 0.3, "seed": 1, "nthread": 1, "tree_method": "hist", **parameters}, train, rounds)


def old_text(text):
    """Converts the text of a current model to the form that LightGBM 2.1 wrote."""
    head, rest = text.split("\nTree=0\n", 1)
    blocks, rest = rest.split("end of trees\n", 1)
    blocks = re.split(r"(?=^Tree=\d+$)", "Tree=0\n" + blocks, flags=re.M)
    gone = re.compile(r"^(leaf_weight|internal_weight|is_linear)=.*\n", re.M)
    blocks = [gone.sub("", block) for block in blocks if block]
    head = re.sub(r"^tree_sizes=.*$", "tree_sizes=" + " ".join(str(len(block)) for block in blocks), head, flags=re.M)
    importances = re.search(r"feature_importances:\n((?:.+\n)*)", rest).group(1)
    return head.replace("version=v4", "version=v2") + "\n" + "".join(blocks) + "\nfeature importances:\n" + importances + "\npandas_categorical:null"


def lightgbm_raw(booster, x):
    return np.atleast_2d(booster.predict(x, raw_score=True).T).T


def xgboost_raw(booster, x, types=TYPES):
    matrix = xgb.DMatrix(x, feature_names=NAMES, feature_types=types, enable_categorical=True)
    best = getattr(booster, "best_iteration", 0) if booster.attr("best_iteration") is not None else None
    raw = booster.predict(matrix, output_margin=True, validate_features=False, iteration_range=(0, 0) if best is None else (0, best + 1))
    return np.atleast_2d(raw.T).T if raw.ndim == 1 else raw


class Base:
    """A model in one format: its bytes, the options for a dump, and the scores of the intact file."""

    def __init__(self, form, name, content, scores, told=None):
        self.form, self.name, self.content, self.scores, self.told = form, name, content, scores, told

    @property
    def plugin(self):
        return "lightgbm" if self.form.startswith("LightGBM") else "xgboost"

    @property
    def library(self):
        """True if the library can read the format."""
        return self.form not in ("LightGBM JSON", "XGBoost dump JSON")


def bases(rng, probes):
    x, y = data(rng)
    classes = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    found = []
    models = {
        "plain": light(x, y),
        "classes": light(x, classes, rounds=2, objective="multiclass", num_class=3),
        "linear": light(x, y, rounds=3, linear_tree=True),
        "forest": light(x, y, rounds=4, boosting="rf", bagging_freq=1, bagging_fraction=0.6),
    }
    for name, model in models.items():
        raw = lightgbm_raw(model, probes)
        text = model.model_to_string()
        text = text if text.rstrip().endswith("null") else text.rstrip("\n") + "\n\npandas_categorical:null\n"
        found.append(Base("LightGBM text", name, text.encode(), raw))
        if name != "linear":
            found.append(Base("LightGBM 2.1 text", name, old_text(text).encode(), raw))
        found.append(Base("LightGBM JSON", name, json.dumps(model.dump_model(), indent=1).encode(), raw))
    for name, model, told in (
        ("plain", boost(x, y), {"objective": "reg:squarederror"}),
        ("classes", boost(x, classes, rounds=2, objective="multi:softprob", num_class=3), {"objective": "multi:softprob", "num_class": 3}),
        ("vectors", boost(x, classes, types=PLAIN, rounds=3, objective="multi:softprob", num_class=3, multi_strategy="multi_output_tree"), {"objective": "multi:softprob", "num_class": 3}),
        ("dart", boost(x, y, booster="dart", rate_drop=0.5), None),
        ("gblinear", boost(x, classes, types=PLAIN, booster="gblinear", objective="multi:softprob", num_class=3), None),
    ):
        types = PLAIN if name in ("gblinear", "vectors") else TYPES
        raw = xgboost_raw(model, probes, types)
        found.append(Base("XGBoost JSON", name, bytes(model.save_raw("json")), raw))
        found.append(Base("XGBoost UBJSON", name, bytes(model.save_raw("ubj")), raw))
        if told is not None:
            written = json.loads(model.save_raw("json"))["learner"]["learner_model_param"]["base_score"]
            score = json.loads(written.lower()) if written.startswith("[") else [float(written)]
            dump = "[\n" + ",\n".join(model.get_dump(dump_format="json")) + "\n]"
            found.append(Base("XGBoost dump JSON", name, dump.encode(), raw, {**told, "base_score": score}))
    return found


# --------------------------------------------------------------------------------------------------- the mutants


def pieces(base):
    """Returns the start and end of each tree, in bytes. The trees follow one another directly or with commas between."""
    content = base.content.decode("latin1")
    if base.form.startswith("LightGBM") and "text" in base.form:
        starts = [m.start() for m in re.finditer(r"^Tree=\d+$", content, re.M)]
        end = content.find("end of trees\n")
        end = end if end >= 0 else content.find("\nfeature importances:")
        return list(zip(starts, starts[1:] + [end])), ""
    if base.form == "XGBoost UBJSON":
        return [], ""
    opening = {"LightGBM JSON": '"tree_info": [', "XGBoost JSON": '"trees":[', "XGBoost dump JSON": "["}[base.form]
    at = content.find(opening)
    if at < 0:
        return [], ","
    at, spans, depth, text = at + len(opening), [], 0, False
    while True:
        character = content[at]
        if character == '"':
            text = not text
        elif not text and character == "{":
            if depth == 0:
                start = at
            depth += 1
        elif not text and character == "}":
            depth -= 1
            if depth == 0:
                spans.append((start, at + 1))
        elif not text and character == "]" and depth == 0:
            return spans, ","
        at += 1


def cuts(base):
    lines = [m.end() for m in re.finditer(rb"\n", base.content)]
    if len(lines) < 10:
        lines = list(range(0, len(base.content), max(1, len(base.content) // 120)))
    return [(f"cut after byte {at}", "cut", base.content[:at]) for at in lines if at < len(base.content)]


def of_trees(base):
    spans, comma = pieces(base)
    content = base.content
    for index, (start, end) in enumerate(spans):
        tree = content[start:end]
        yield f"tree {index} twice", "trees", content[:end] + comma.encode() + tree + content[end:]
        if index + 1 < len(spans):
            after = spans[index + 1]
            yield f"without tree {index}", "trees", content[:start] + content[after[0] :]
            yield f"trees {index} and {index + 1} exchanged", "trees", content[:start] + content[after[0] : after[1]] + content[end : after[0]] + tree + content[after[1] :]
        elif index > 0:
            yield f"without tree {index}", "trees", content[: spans[index - 1][1]] + content[end:]
    if base.form == "XGBoost UBJSON":
        # The trees are changed in the JSON of the same model, without an update of its counts.
        file = json.loads(xgb.Booster(model_file=bytearray(content)).save_raw("json"))
        booster = file["learner"]["gradient_booster"]
        model = booster.get("gbtree", booster).get("model", {})
        for index in range(len(model.get("trees", []))):
            for what, trees in (("without", model["trees"][:index] + model["trees"][index + 1 :]), ("twice", model["trees"][: index + 1] + model["trees"][index:])):
                changed = json.loads(json.dumps(file))
                other = changed["learner"]["gradient_booster"]
                other.get("gbtree", other)["model"]["trees"] = trees
                yield f"{what} tree {index}", "trees", ubjson(changed)


def ubjson(value):
    """Writes Universal Binary JSON, limited to the types that XGBoost reads."""
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"L" + value.to_bytes(8, "big", signed=True)
    if isinstance(value, float):
        return b"d" + np.array(value, ">f4").tobytes()
    if isinstance(value, str):
        return b"S" + ubjson(len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return b"{" + b"".join(ubjson(key)[1:] + ubjson(one) for key, one in value.items()) + b"}"
    if value and all(isinstance(one, float) for one in value):
        return b"[$d#" + ubjson(len(value)) + np.array(value, ">f4").tobytes()
    if value and all(isinstance(one, int) for one in value):
        return b"[$l#" + ubjson(len(value)) + np.array(value, ">i4").tobytes()
    return b"[#" + ubjson(len(value)) + b"".join(ubjson(one) for one in value)


def changed(base, pick):
    """Makes one random change."""
    content = base.content
    if base.form == "XGBoost UBJSON":
        at = pick.randrange(len(content))
        kind = pick.choice(("byte", "gone", "twice"))
        if kind == "byte":
            return f"byte {at} changed", "number", content[:at] + bytes([pick.randrange(256)]) + content[at + 1 :]
        return f"byte {at} {kind}", "bytes", content[:at] + (b"" if kind == "gone" else content[at : at + 1] * 2) + content[at + 1 :]
    one_line = content.count(b"\n") < 10
    kind = pick.choice(("digit", "digit", "sign") if one_line else ("digit", "digit", "sign", "line gone", "line twice", "lines exchanged"))
    if kind == "digit":
        places = [m.start() for m in re.finditer(rb"\d", content)]
        at = pick.choice(places)
        digit = pick.choice([d for d in b"0123456789" if d != content[at]])
        return f"digit at byte {at}", "number", content[:at] + bytes([digit]) + content[at + 1 :]
    if kind == "sign":
        at = pick.choice([m.start() for m in re.finditer(rb"(?<=[ =\[,:])\d", content)])
        return f"sign at byte {at}", "number", content[:at] + b"-" + content[at:]
    lines = content.split(b"\n")
    at = pick.randrange(len(lines))
    if kind == "line gone":
        del lines[at]
    elif kind == "line twice":
        lines.insert(at, lines[at])
    else:
        other = pick.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return f"{kind}: {at}", "lines", b"\n".join(lines)


def mutants(of_form, count, pick):
    """Yields mutants of all models of one format: first the systematic changes, then random ones."""
    whole = [(base, *one) for base in of_form for one in of_trees(base)]
    cut = [(base, *one) for base in of_form for one in cuts(base)]
    room = max(0, count - len(whole))
    found = whole + (cut if len(cut) <= room // 2 else [cut[i * len(cut) // (room // 2)] for i in range(room // 2)])
    while len(found) < count:
        base = pick.choice(of_form)
        found.append((base, *changed(base, pick)))
    return [one for one in found[: max(count, len(whole))] if one[3] != one[0].content]


# --------------------------------------------------------------------------------------------------- the libraries


def worker(rows):
    """Scores the files that stdin names, and prints one line of JSON per file."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    probes = np.array(json.loads(Path(rows).read_text()), dtype=float)
    xgb.set_config(verbosity=0)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        plugin, path = line.rstrip("\n").split("\t")
        try:
            if plugin == "lightgbm":
                scores = lightgbm_raw(lgb.Booster(model_file=path, params={"verbosity": -1, "num_threads": 1}), probes)
            else:
                scores = xgboost_raw(xgb.Booster({"nthread": 1}, model_file=path), probes, types_of(path))
            answer = {"scores": scores.tolist()}
        except BaseException as error:
            answer = {"refused": str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def types_of(path):
    return PLAIN if "-gblinear-" in path or "-vectors-" in path else TYPES


class Library:
    """A separate process, because damaged files can crash or block it. It is then restarted."""

    def __init__(self, rows):
        self.rows, self.process = rows, None

    def scores(self, plugin, path):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, __file__, "--worker", self.rows], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(f"{plugin}\t{path}\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.stop()
        return {"refused": "the library ended its process, or did not end"}

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


# --------------------------------------------------------------------------------------------------- the comparison


def same(plugin, found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    if found.shape != wanted.shape:
        return False
    tolerance = 1e-12 if plugin == "lightgbm" else 1e-6 * np.maximum(1, np.abs(wanted))
    return bool(np.all((found == wanted) | (np.abs(found - wanted) <= tolerance) | (np.isnan(found) & np.isnan(wanted))))


def class_of(base, what, kind, ours, theirs):
    """@returns None if there is no difference"""
    if "refused" in ours:
        return None
    if "scores" in theirs and same(base.plugin, ours["scores"], theirs["scores"]):
        return None
    if "refused" in theirs and same(base.plugin, ours["scores"], base.scores):
        return "unread"
    if base.form == "LightGBM JSON" and what == "without tree 0" and "notices" in ours:
        return "later"
    if not base.library and kind == "trees" and base.form == "XGBoost dump JSON":
        return "trees"
    if not base.library and kind in ("number", "lines"):
        return "values"
    return "?"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--count", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rng, pick = np.random.default_rng(options.seed), random.Random(options.seed)
    probes = data(rng)[0][:40]
    rows = options.folder / "rows.json"
    rows.write_text(json.dumps([[None if np.isnan(v) else float(v) for v in row] for row in probes]))

    by_form = collections.defaultdict(list)
    for base in bases(rng, probes):
        by_form[base.form].append(base)
    # The intact files come first. Their scores must be equal.
    cases = [(base, "whole", "whole", base.content) for of_form in by_form.values() for base in of_form]
    for of_form in by_form.values():
        cases += mutants(of_form, options.count, pick)
    paths, requests = [], []
    for number, (base, _, _, content) in enumerate(cases):
        path = options.folder / f"{number:05}-{base.name}-{base.form.replace(' ', '_')}"
        path.write_bytes(content)
        paths.append(str(path))
        request = {"file": str(path), "plugin": base.plugin, "rows": str(rows)}
        if base.form == "XGBoost dump JSON":
            request |= {"told": base.told, "names": NAMES}
        requests.append(json.dumps(request))
    (options.folder / "list.jsonl").write_text("\n".join(requests) + "\n")
    scorer = Path(__file__).resolve().parents[2] / "dist/test/acceptance/score-files.js"
    printed = subprocess.run(["node", str(scorer), "--list", str(options.folder / "list.jsonl")], check=True, stdout=subprocess.PIPE, text=True).stdout
    ours = [json.loads(line) for line in printed.splitlines()]

    library = Library(str(rows))
    totals, unexplained = collections.defaultdict(collections.Counter), []
    for (base, what, kind, _), path, our in zip(cases, paths, ours, strict=True):
        if "refused" in our and kind != "whole":
            totals[base.form]["refused"] += 1
            continue
        their = library.scores(base.plugin, path) if base.library else {"scores": base.scores.tolist()}
        if kind == "whole":
            if "refused" in our or not same(base.plugin, our["scores"], base.scores) or class_of(base, what, kind, our, their) is not None:
                unexplained.append(f"{base.form}, {base.name}, not changed: {str(our)[:200]}; the library: {str(their)[:200]}")
            continue
        found = class_of(base, what, kind, our, their)
        totals[base.form]["same" if found is None else found] += 1
        if found == "?":
            unexplained.append(f"{base.form}, {base.name}, {what} ({path}): {str(our)[:100]}; the library: {str(their)[:160]}")
    library.stop()

    columns = ["refused", "same", *CLASSES]
    print(f"{'format':20}{'mutants':>9}" + "".join(f"{column:>9}" for column in columns))
    for form, counts in totals.items():
        print(f"{form:20}{sum(counts.values()):9}" + "".join(f"{counts[column]:9}" for column in columns))
    print("\nMillrace reads these mutants, but the library rejects them or scores them differently:")
    for name, meaning in CLASSES.items():
        print(f"  {name}: {meaning}")
    for one in unexplained[:40]:
        print(f"NOT EXPLAINED: {one}")
    print(f"\n{sum(sum(c.values()) for c in totals.values())} mutants, {len(unexplained)} not explained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2])
    else:
        main()
