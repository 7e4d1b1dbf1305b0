CREATE TABLE "plan_grants" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"subscription_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"period" bigint NOT NULL,
	"is_raise" boolean DEFAULT false NOT NULL,
	"plan_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"starts_at_ms" bigint NOT NULL,
	"ends_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"decided_at_ms" bigint NOT NULL,
	"booked_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"plan" text NOT NULL,
	"next_plan" text,
	"time_zone" text COLLATE "C" NOT NULL,
	"anchor_ms" bigint NOT NULL,
	"anchor_period" bigint NOT NULL,
	"next_period" bigint NOT NULL,
	"period_grant" bigint NOT NULL,
	"next_at_ms" bigint,
	"is_cancelling" boolean DEFAULT false NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"paused_at_ms" bigint,
	"ended_at_ms" bigint,
	"version" bigint DEFAULT 1 NOT NULL,
	"applied_version" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "plan_models" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "plan_markup" bigint;--> statement-breakpoint
CREATE INDEX "plan_grants_subscription" ON "plan_grants" USING btree ("subscription_id","period");--> statement-breakpoint
CREATE INDEX "plan_grants_unbooked" ON "plan_grants" USING btree ("decided_at_ms") WHERE booked_at_ms IS NULL;--> statement-breakpoint
CREATE INDEX "subscriptions_account" ON "subscriptions" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "subscriptions_live" ON "subscriptions" USING btree ("account_id") WHERE ended_at_ms IS NULL;--> statement-breakpoint
CREATE INDEX "subscriptions_next" ON "subscriptions" USING btree ("next_at_ms") WHERE next_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX "subscriptions_unapplied" ON "subscriptions" USING btree ("id") WHERE applied_version < version;