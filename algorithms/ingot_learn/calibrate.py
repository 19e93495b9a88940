"""Scores that mean what they say: one temperature for the logits, chosen on the validation part."""

import numpy as np
import torch
import torch.nn.functional as F

FEWEST = 20  # samples below which a temperature would be noise


def temperature(logits: np.ndarray, truth: np.ndarray, many: bool) -> float:
    """Divides the logits. 1 where there is too little to go by."""
    if len(truth) < FEWEST:
        return 1.0
    x, y = torch.from_numpy(np.asarray(logits, np.float32)), torch.from_numpy(truth)
    def cost(t):
        return float(F.binary_cross_entropy_with_logits(x / t, y.float()) if many else F.cross_entropy(x / t, y.long()))
    choices = np.exp(np.linspace(np.log(0.2), np.log(5), 65))
    return float(min(choices, key=cost))
