"""The KServe client against a server: python kserve_client.py URL. Run by test_clients.py, in an environment of its own."""

import asyncio
import sys

import numpy as np
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig


async def main(url: str) -> None:
    client = InferenceRESTClient(RESTConfig(protocol="v2", timeout=60))
    assert await client.is_server_live(url) and await client.is_server_ready(url)
    assert await client.is_model_ready(url, "id-fp32")
    for kind, array in (("FP32", np.arange(6, dtype=np.float32).reshape(2, 3)), ("INT64", np.arange(4).reshape(2, 2)),
                        ("FP16", np.ones((1, 2), np.float16)), ("BYTES", np.array([["a", "世界"]], dtype=np.object_))):
        for binary in (True, False):
            if kind == "FP16" and not binary:
                continue
            one = InferInput("x", list(array.shape), kind)
            one.set_data_from_numpy(array, binary_data=binary)
            answer = await client.infer(url, InferRequest(f"id-{kind.lower()}", [one]), model_name=f"id-{kind.lower()}")
            back = answer.outputs[0].as_numpy()
            texts = [t.decode() if isinstance(t, bytes) else t for t in back.ravel()] if kind == "BYTES" else back.ravel().tolist()
            assert texts == array.ravel().tolist(), (kind, binary, texts)
    await client.close()


asyncio.run(main(sys.argv[1]))
