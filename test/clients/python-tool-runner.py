"""Runs the tool runner of Anthropic's SDK with each model, whole and streamed. Prints last texts and statuses as JSON."""

import json
import sys

import httpx2
from anthropic import Anthropic, beta_tool

base_url, secret, *models = sys.argv[1:]
statuses = []


@beta_tool
def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    return f"rain in {city}"


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


http_client = httpx2.Client(event_hooks={"response": [lambda response: statuses.append(response.status_code)]})
client = Anthropic(base_url=base_url, api_key=secret, max_retries=0, http_client=http_client)


def run(model):
    params = {
        "model": model,
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": "Oslo, then Rome?"}],
        "tools": [get_weather],
    }
    statuses.clear()
    whole = text_of(client.beta.messages.tool_runner(**params).until_done())
    streamed = ""
    for stream in client.beta.messages.tool_runner(**params, stream=True):
        streamed = text_of(stream.get_final_message())
    return {"whole": whole, "streamed": streamed, "statuses": [*statuses]}


print(json.dumps({model: run(model) for model in models}))
