import { expect, test } from "bun:test";
import { compareConfigs } from "../../src/config/changes.ts";
import { loadPlans } from "../../src/config/config.ts";
import { configFolder, loadYaml, problemsOf } from "./temp-config.ts";

const MODELS = `
upstreams: { up: { protocol: openai, base_url: https://up.example/v1/, api_key: k } }
models:
  m:
    routes: [{ upstream: up, model: um }]
    context_window: 100000
    max_output_tokens: 8000
    price: { input: "1", output: "2" }
`;

test("a plan has every key of the file, and defaults for those it leaves out", () => {
  const yaml = `${MODELS}
plans:
  pro:
    name: Pro
    period: 30d
    grant: "20.50"
    carry_over: 2
    late_days: 3
    spending_limits: [{ amount: "5", period: 5h }, { amount: "60", period: month }]
    models: [m, m]
    markup: "1.15"
    price: "18.00"
  free: { period: month, grant: "0" }
`;
  const config = loadYaml(yaml);
  expect(config.plans).toEqual([
    {
      id: "pro",
      name: "Pro",
      period: "30d",
      grant: 20_500_000_000n,
      carryOver: 2,
      lateDays: 3,
      limits: [
        { amount: 5_000_000_000n, period: "5h" },
        { amount: 60_000_000_000n, period: "month" },
      ],
      models: ["m"],
      markup: 11_500n,
      price: 18_000_000_000n,
    },
    {
      id: "free",
      name: "free",
      period: "month",
      grant: 0n,
      carryOver: 0,
      lateDays: 1,
      limits: [],
      models: undefined,
      markup: undefined,
      price: undefined,
    },
  ]);
  expect(loadPlans({}, { folder: configFolder(yaml) })).toEqual(config.plans ?? []);
  expect(loadYaml("").plans).toEqual([]);
  expect(loadPlans({}, { folder: configFolder() })).toEqual([]);
});

test("a plan is sold with three days of grace unless it says otherwise", () => {
  const { plans } = loadYaml(
    'plans: { a: { period: month, grant: "1", price: "0.50", sold_by: stripe }, b: { period: 7d, grant: "1", price: "999999.99", sold_by: stripe, stripe_price: price_1, grace_days: 10 } }',
  );
  expect(plans?.map(({ sale }) => sale)).toEqual([
    { graceDays: 3, stripePrice: undefined },
    { graceDays: 10, stripePrice: "price_1" },
  ]);
});

test("a change of a plan is a change that applies at once", () => {
  const [before, after] = ["20", "21"].map((grant) =>
    loadYaml(`plans: { a: { period: 1d, grant: "${grant}" } }`),
  );
  if (!before || !after) throw new Error("Two configurations were loaded");
  expect(compareConfigs(before, after)).toMatchObject({ settings: ["plans"] });
  expect(compareConfigs(before, before).settings).toEqual([]);
});

test.each([
  ["a: { period: month, grant: 20 }", "plans.a.grant: has a wrong value"],
  ['a: { period: month, grant: "9000000" }', "plans.a.grant: has a wrong value"],
  ['a: { period: month, grant: "-1" }', "plans.a.grant: has a wrong value"],
  ['a: { period: month, grant: "1.0000000001" }', "plans.a.grant: has a wrong value"],
  ['a: { period: week, grant: "1" }', "plans.a.period: is not a period"],
  ['a: { period: 0d, grant: "1" }', "plans.a.period: is not a period"],
  ['a: { period: 367d, grant: "1" }', "plans.a.period: is not a period"],
  ['a: { grant: "1" }', "plans.a.period: is missing"],
  ["a: { period: month }", "plans.a.grant: is missing"],
  ['a: { period: month, grant: "1", carry_over: 121 }', "plans.a.carry_over: has a wrong value"],
  ['a: { period: month, grant: "1", late_days: 0 }', "plans.a.late_days: has a wrong value"],
  ['a: { period: month, grant: "1", models: [none] }', "plans.a.models[0]: is not the id of a model"],
  ['a: { period: month, grant: "1", models: [] }', "plans.a.models: has a wrong value"],
  ['a: { period: month, grant: "1", markup: "0" }', "plans.a.markup: has a wrong value"],
  ['a: { period: month, grant: "1", name: "a\\nb" }', "plans.a.name: is not a valid name"],
  ['A: { period: month, grant: "1" }', "plans.A: is not a valid id of a plan"],
  ['a: { period: month, grant: "1", sold_by: stripe }', "plans.a.price: is no price that Stripe takes"],
  [
    'a: { period: month, grant: "1", sold_by: stripe, price: "0.49" }',
    "plans.a.price: is no price that Stripe takes",
  ],
  [
    'a: { period: month, grant: "1", sold_by: stripe, price: "9.999" }',
    "plans.a.price: is no price that Stripe takes",
  ],
  ['a: { period: month, grant: "1", sold_by: me, price: "9" }', "plans.a.sold_by: has a wrong value"],
  [
    'a: { period: month, grant: "1", sold_by: stripe, price: "9", grace_days: 0 }',
    "plans.a.grace_days: has a wrong value",
  ],
  [
    'a: { period: month, grant: "1", sold_by: stripe, price: "9", stripe_price: prod_1 }',
    "plans.a.stripe_price: has a wrong value",
  ],
  ['a: { period: month, grant: "1", price: "9", grace_days: 3 }', "plans.a.grace_days: has no effect"],
  [
    'a: { period: 1d, grant: "1", sold_by: stripe, price: "9", stripe_price: price_1 }, b: { period: 1d, grant: "1", sold_by: stripe, price: "9", stripe_price: price_1 }',
    "plans.b.stripe_price: is that of another plan",
  ],
  ['a: { period: month, grant: "1", more: 1 }', "plans.a.more: is not a known key"],
  [
    'a: { period: month, grant: "1", spending_limits: [{ amount: "1", period: 1d }] }',
    "plans.a.spending_limits[0].period: is not a period",
  ],
])("the plan %s is refused", (plan, problem) => {
  const problems = problemsOf(`${MODELS}\nplans: { ${plan} }`);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toStartWith(problem);
});
