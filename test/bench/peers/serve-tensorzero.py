"""Serves the gateway that TensorZero's package contains, prints its address, and ends with the standard input."""

import sys
import warnings

import tensorzero

warnings.simplefilter("ignore", DeprecationWarning)


class Client:
    """Takes the place of an OpenAI client, of which only the address is set."""

    base_url = ""


client = tensorzero.patch_openai_client(Client(), config_file=sys.argv[1], async_setup=False)
print(f"address: {client.base_url}", flush=True)
sys.stdin.read()
