CREATE TABLE "plan_invoices" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"subscription_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"plan_id" text COLLATE "C" NOT NULL,
	"intent_id" text COLLATE "C",
	"grant_id" text COLLATE "C" NOT NULL,
	"paid" bigint NOT NULL,
	"net" bigint NOT NULL,
	"credited" bigint NOT NULL,
	"starts_at_ms" bigint NOT NULL,
	"ends_at_ms" bigint NOT NULL,
	"paid_at_ms" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plan_orders" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"terms" text NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"session_id" text COLLATE "C",
	"customer_id" text COLLATE "C",
	"stripe_id" text COLLATE "C",
	"subscription_id" text COLLATE "C",
	"reads" bigint DEFAULT 0 NOT NULL,
	"next_read_at_ms" bigint,
	"ended_at_ms" bigint
);
--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "stripe_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "paid_until_ms" bigint;--> statement-breakpoint
CREATE INDEX "plan_invoices_account" ON "plan_invoices" USING btree ("account_id","paid_at_ms");--> statement-breakpoint
CREATE INDEX "plan_invoices_subscription" ON "plan_invoices" USING btree ("subscription_id","starts_at_ms");--> statement-breakpoint
CREATE INDEX "plan_invoices_intent" ON "plan_invoices" USING btree ("intent_id");--> statement-breakpoint
CREATE INDEX "plan_orders_account" ON "plan_orders" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "plan_orders_stripe" ON "plan_orders" USING btree ("stripe_id");--> statement-breakpoint
CREATE INDEX "plan_orders_next" ON "plan_orders" USING btree ("next_read_at_ms");--> statement-breakpoint
CREATE UNIQUE INDEX "subscriptions_stripe" ON "subscriptions" USING btree ("stripe_id");