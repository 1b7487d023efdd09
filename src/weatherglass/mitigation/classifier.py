"""Linear classification by multinomial logistic regression with an L2 penalty, without another library."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Integers, Matrix, Vector


def logistic_weights(rows: Matrix, labels: Integers, penalty: float) -> tuple[Matrix, Vector]:
    """Weights, one row a class, and intercepts that minimise the mean log loss + penalty/2·‖weights‖²."""
    classes, (n, width) = int(labels.max()) + 1, rows.shape
    one_hot = np.eye(classes)[labels]

    def loss(flat: Vector) -> tuple[float, Vector]:
        weights, intercepts = flat[: classes * width].reshape(classes, width), flat[classes * width :]
        logs = log_softmax(rows @ weights.T + intercepts, axis=1)
        residual = (np.exp(logs) - one_hot) / n
        gradient = np.concatenate([(residual.T @ rows + penalty * weights).ravel(), residual.sum(axis=0)])
        return float(-(one_hot * logs).sum() / n + penalty / 2 * (weights**2).sum()), gradient

    start = np.zeros(classes * (width + 1))
    with threadpool_limits(1):  # several threads wait for each other at every step, and change the last bits
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x[: classes * width].reshape(classes, width), found.x[classes * width :]
