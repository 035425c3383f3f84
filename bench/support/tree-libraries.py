"""Times LightGBM, XGBoost and ONNX Runtime, with one thread each, on one model. `npm run bench -- libraries` runs it, and
`npm run bench -- contributions`, which times the contributions of features in place of scores; ONNX Runtime has none.

Arguments: `scores` or `contributions`; a folder with `model.txt` (LightGBM), `model.onnx`, `trees.json`, `rows.f64`; then
numbers of rows.
Prints one JSON object for each library: its name, and the microseconds of a call by number of rows, or why it is missing.
"""
import ctypes
import json
import statistics
import sys
import time

divides, folder, counts = sys.argv[1] == "contributions", sys.argv[2], [int(one) for one in sys.argv[3:]]
try:
    import numpy
except ImportError:
    for library in ("lightgbm", "xgboost", "onnxruntime"):
        print(json.dumps({"name": library, "missing": "numpy is not installed"}))
    sys.exit()
with open(f"{folder}/trees.json") as file:
    model = json.load(file)
features = model["features"]
rows = numpy.fromfile(f"{folder}/rows.f64").reshape(-1, features)
singles = rows.astype(numpy.float32)
width = features + 1 if divides else 1


def lightgbm_calls():
    import lightgbm

    library = lightgbm.basic._LIB
    booster = lightgbm.Booster(model_file=f"{folder}/model.txt")
    kind, doubles = 3 if divides else 1, 1
    length, out = ctypes.c_int64(), (ctypes.c_double * (len(rows) * width))()
    fast = ctypes.c_void_p()
    library.LGBM_BoosterPredictForMatSingleRowFastInit(
        booster._handle, kind, 0, -1, doubles, features, b"num_threads=1", ctypes.byref(fast)
    )

    def call(start, count):
        at = ctypes.c_void_p(rows.ctypes.data + start * features * 8)
        if count == 1 and not divides:
            return lambda: library.LGBM_BoosterPredictForMatSingleRowFast(fast, at, ctypes.byref(length), out)
        return lambda: library.LGBM_BoosterPredictForMat(
            booster._handle, at, doubles, count, features, 1, kind, 0, -1, b"num_threads=1", ctypes.byref(length), out
        )

    return call, lambda count: out[: count * width]


def xgboost_calls():
    import xgboost

    library = xgboost.core._LIB
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(json.dumps(xgboost_model()), "utf-8"))
    config = b'{"type":1,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false,"missing":NaN}'
    if divides:
        return contribution_calls(xgboost, booster)
    shape, dims, out = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64(), ctypes.POINTER(ctypes.c_float)()

    def call(start, count):
        data = json.dumps(singles[start : start + count].__array_interface__ | {"strides": None}).encode()
        return lambda: library.XGBoosterPredictFromDense(
            booster.handle, data, config, None, ctypes.byref(shape), ctypes.byref(dims), ctypes.byref(out)
        )

    return call, lambda count: out[: count * width]


def contribution_calls(xgboost, booster):
    """Its C function without a copy of the rows has no contributions."""
    found = []

    def call(start, count):
        data = xgboost.DMatrix(singles[start : start + count], nthread=1)

        def run():
            found[:] = booster.predict(data, pred_contribs=True).reshape(-1).tolist()

        return run

    return call, lambda count: found[: count * width]


def xgboost_model():
    """XGBoost sends `value < threshold` left. For float32 numbers this is `value <= ` the number before."""

    def cover_of(one, node):
        cover = one.get("cover", {"leaves": [], "nodes": []})
        known = cover["leaves"] if node < 0 else cover["nodes"]
        return float(known[~node if node < 0 else node]) if known else 1.0

    def tree(index, one):
        # Level by level, because XGBoost expects the right child beside the left one.
        order, left, right, parents = [0], [], [], [2147483647]
        for place, node in enumerate(order):
            left.append(-1 if node < 0 else len(order))
            right.append(-1 if node < 0 else len(order) + 1)
            if node >= 0:
                order += [one["left"][node], one["right"][node]]
                parents += [place, place]
        count = len(order)
        bounds = numpy.nextafter(numpy.float32(one["threshold"]), numpy.float32(numpy.inf)).tolist()
        return {
            "id": index, "base_weights": [0.0] * count, "categories": [], "categories_nodes": [],
            "categories_segments": [], "categories_sizes": [], "loss_changes": [0.0] * count,
            "sum_hessian": [cover_of(one, node) for node in order], "split_type": [0] * count, "parents": parents,
            "default_left": [0 if node < 0 else one["default_left"][node] for node in order],
            "left_children": left, "right_children": right,
            "split_indices": [0 if node < 0 else one["feature"][node] for node in order],
            "split_conditions": [one["leaves"][~node] if node < 0 else bounds[node] for node in order],
            "tree_param": {
                "num_deleted": "0", "num_feature": str(features), "num_nodes": str(count), "size_leaf_vector": "1"
            },
        }

    trees = [tree(index, one) for index, one in enumerate(model["trees"])]
    return {
        "version": [2, 0, 0],
        "learner": {
            "attributes": {}, "feature_names": [], "feature_types": [],
            "gradient_booster": {
                "name": "gbtree",
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
                    "iteration_indptr": list(range(len(trees) + 1)),
                    "tree_info": [0] * len(trees),
                    "trees": trees,
                },
            },
            "learner_model_param": {
                "base_score": str(model["base"]), "boost_from_average": "0", "num_class": "0",
                "num_feature": str(features), "num_target": "1",
            },
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        },
    }


def onnxruntime_calls():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
    found = []

    def call(start, count):
        feeds = {"features": singles[start : start + count]}

        def run():
            found[:] = session.run(["sum"], feeds)

        return run

    return call, lambda count: found[0].reshape(-1)[:count].tolist()


def measure(name, open_library):
    try:
        call, result = open_library()
    except ImportError:
        return {"name": name, "missing": f"{name} is not installed"}
    call(0, len(rows))()
    sums = list(result(len(rows)))
    times = {}
    for count in counts:
        # Each call has other rows than the one before, as in a service.
        calls = [call(start, count) for start in range(0, len(rows) - count + 1, count)]
        most = max(1, (48 if divides else 400) // count)
        calls = (calls * most)[:most] if len(calls) < most else calls[:most]
        took = []
        for _ in range(15):
            start = time.perf_counter_ns()
            for one in calls:
                one()
            took.append((time.perf_counter_ns() - start) / 1000 / len(calls))
        times[count] = statistics.median(took)
    return {"name": name, "sums": sums, "times": times}


libraries = [("lightgbm", lightgbm_calls), ("xgboost", xgboost_calls), ("onnxruntime", onnxruntime_calls)]
for name, library in libraries[: 2 if divides else 3]:
    print(json.dumps(measure(name, library)), flush=True)
