"""Estimators and metrics of scikit-learn that follow the array API standard, on distributed arrays: results are those for NumPy arrays."""

import os

import numpy as np
import pytest

import partita as pt
from partita import array_api

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported
sklearn = pytest.importorskip("sklearn", minversion="1.8", reason="scikit-learn 1.8 or newer is not installed")

from sklearn import metrics  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV  # noqa: E402
from sklearn.metrics import pairwise  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    Binarizer,
    KernelCenterer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 5)) + np.repeat([1.0, 0.0], 20)[:, None]
CLASSES = np.where(np.arange(40) % 13 == 3, 1 - np.repeat([0, 1], 20), np.repeat([0, 1], 20))
NUMBERS = ROWS @ np.array([1.0, 2.0, -1.0, 0.5, 3.0]) + 1
OTHERS = NUMBERS + RNG.random(40)
LABELS, PREDICTED = RNG.integers(0, 3, (2, 40))
SCORES = RNG.random(40)

#: What is fitted: the estimator, the target, and attributes and methods of the rows that are compared.
ESTIMATORS = {
    "PCA": (lambda: PCA(2, svd_solver="full"), None, "transform explained_variance_ singular_values_ mean_ noise_variance_ score_samples"),
    "PCA of covariances": (lambda: PCA(3, svd_solver="covariance_eigh", whiten=True), None, "transform explained_variance_ratio_"),
    "PCA by random vectors": (lambda: PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0), None, "transform explained_variance_"),
    "Ridge": (lambda: Ridge(0.5, solver="svd"), NUMBERS, "coef_ intercept_ predict"),
    "RidgeCV": (lambda: RidgeCV([0.1, 1.0]), NUMBERS, "coef_ predict"),
    "RidgeClassifier": (lambda: RidgeClassifier(solver="svd"), CLASSES, "predict decision_function"),
    "RidgeClassifierCV": (lambda: RidgeClassifierCV([0.1, 1.0]), CLASSES, "predict coef_"),
    "PoissonRegressor": (lambda: PoissonRegressor(max_iter=20), SCORES, "predict"),
    "CalibratedClassifierCV": (
        lambda: CalibratedClassifierCV(LinearDiscriminantAnalysis(), method="temperature", cv=3),
        CLASSES,
        "predict predict_proba",
    ),
    "GridSearchCV": (lambda: GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 1.0]}, cv=3), NUMBERS, "predict best_score_"),
    "Nystroem": (lambda: Nystroem(n_components=5, random_state=0), None, "transform"),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis, CLASSES, "predict transform predict_proba"),
    "LogisticRegression": (lambda: LogisticRegression(solver="lbfgs"), CLASSES, "predict"),
    "GaussianNB": (GaussianNB, CLASSES, "predict predict_proba"),
    "GaussianMixture": (lambda: GaussianMixture(2, random_state=0, init_params="random_from_data"), None, "predict"),
    "StandardScaler": (StandardScaler, None, "transform inverse_transform var_"),
    "MinMaxScaler": (MinMaxScaler, None, "transform"),
    "MaxAbsScaler": (MaxAbsScaler, None, "transform"),
    "Normalizer": (Normalizer, None, "transform"),
    "Binarizer": (Binarizer, None, "transform"),
    "PolynomialFeatures": (lambda: PolynomialFeatures(2), None, "transform"),
    "Pipeline": (lambda: make_pipeline(StandardScaler(), PCA(2, svd_solver="full")), None, "transform"),
}
METRICS = {
    **{name: (NUMBERS, OTHERS) for name in ("r2_score", "mean_squared_error", "mean_absolute_error", "median_absolute_error", "max_error")},
    **{name: (LABELS, PREDICTED) for name in ("accuracy_score", "balanced_accuracy_score", "confusion_matrix", "hamming_loss", "cohen_kappa_score")},
    **{name: (CLASSES, SCORES) for name in ("roc_auc_score", "average_precision_score", "log_loss", "brier_score_loss")},
}


def numbers(found):
    return np.asarray(found.gather() if isinstance(found, pt.Array) else found, float)


def same(ctx, call):
    """The call of arrays that a function converts, for distributed arrays as for NumPy's."""
    wanted = call(np.asarray)
    with pt.default(ctx, pt.Slab(0)), sklearn.config_context(array_api_dispatch=True):
        found = call(array_api.asarray)
        for one, other in zip(found, wanted):
            assert isinstance(one, pt.Array) or np.ndim(other) == 0
            np.testing.assert_allclose(np.abs(numbers(one)), np.abs(other), rtol=1e-6, atol=2e-7)  # of vectors the sign is free


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(ctx, name):
    make, target, compared = ESTIMATORS[name]

    def fitted(array):
        rows = array(ROWS)
        model = make().fit(rows) if target is None else make().fit(rows, array(target))
        parts = [getattr(model, one) for one in compared.split()]
        return [one(rows) if callable(one) else one for one in parts]

    same(ctx, fitted)


@pytest.mark.parametrize("name", METRICS)
def test_metrics(ctx, name):
    same(ctx, lambda array: [getattr(metrics, name)(*map(array, METRICS[name]))])


def test_functions(ctx):
    for name in ("cosine_similarity", "euclidean_distances", "rbf_kernel", "laplacian_kernel"):
        same(ctx, lambda array, name=name: [getattr(pairwise, name)(array(ROWS), array(ROWS[:7]))])
    same(ctx, lambda array: metrics.roc_curve(array(CLASSES), array(SCORES)))
    same(ctx, lambda array: metrics.precision_recall_curve(array(CLASSES), array(SCORES)))
    same(ctx, lambda array: [LabelEncoder().fit_transform(array(LABELS)), LabelBinarizer().fit_transform(array(LABELS))])
    same(ctx, lambda array: [metrics.f1_score(array(LABELS), array(PREDICTED), average="macro")])


def test_kernels_and_selections(ctx):
    same(ctx, lambda array: [KernelCenterer().fit_transform(pairwise.rbf_kernel(array(ROWS), array(ROWS)))])
    same(ctx, lambda array: train_test_split(array(ROWS), array(NUMBERS), random_state=0))
    same(ctx, lambda array: [cross_val_predict(Ridge(solver="svd"), array(ROWS), array(NUMBERS), cv=4)])


def test_conversions_to_numpy_are_collective(ctx):
    a = pt.scatter(ctx, np.arange(7.0), pt.Slab(0))
    with pytest.raises(pt.TypeError, match="is not converted to NumPy implicitly"):
        np.asarray(a)
    with pt.default(ctx, pt.Slab(0)):
        assert np.asarray(a).tolist() == np.from_dlpack(a).tolist() == list(range(7)) and np.asarray(a, "float32").dtype == np.float32
