CREATE TABLE "auto_payments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"customer_id" text COLLATE "C" NOT NULL,
	"payment_method_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"attempts" bigint DEFAULT 0 NOT NULL,
	"next_at_ms" bigint,
	"intent_id" text COLLATE "C",
	"paid_at_ms" bigint,
	"credited_at_ms" bigint,
	"failed_at_ms" bigint,
	"failure" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "auto_top_ups" (
	"account_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"below" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"month_max" bigint NOT NULL,
	"customer_id" text COLLATE "C",
	"payment_method_id" text COLLATE "C",
	"card" text COLLATE "C",
	"crossings" bigint DEFAULT 0 NOT NULL,
	"failures" bigint DEFAULT 0 NOT NULL,
	"capped_month" text COLLATE "C",
	"updated_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "card_setups" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"used_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "reversals" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"payment_id" text COLLATE "C" NOT NULL,
	"reversed" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"effect" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"booked_at_ms" bigint,
	"returned_at_ms" bigint,
	"return_booked_at_ms" bigint
);
--> statement-breakpoint
ALTER TABLE "checkouts" ADD COLUMN "intent_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "checkouts" ADD COLUMN "paid_total" bigint;--> statement-breakpoint
CREATE INDEX "auto_payments_account" ON "auto_payments" USING btree ("account_id","month");--> statement-breakpoint
CREATE INDEX "auto_payments_next" ON "auto_payments" USING btree ("next_at_ms");--> statement-breakpoint
CREATE INDEX "auto_payments_open" ON "auto_payments" USING btree ("account_id") WHERE failed_at_ms IS NULL AND credited_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "auto_payments_intent" ON "auto_payments" USING btree ("intent_id");--> statement-breakpoint
CREATE INDEX "reversals_payment" ON "reversals" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "checkouts_intent" ON "checkouts" USING btree ("intent_id");