/** Version of Anthropic's Python SDK that the tests run. */
export const ANTHROPIC_PYTHON_VERSION = "2.12.0";
