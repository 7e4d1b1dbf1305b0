CREATE TABLE "signed_days" (
	"caller_id" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	CONSTRAINT "signed_days_caller_id_day_pk" PRIMARY KEY("caller_id","day")
);
--> statement-breakpoint
CREATE TABLE "signed_payments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"caller_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"payment_id" text COLLATE "C",
	"source" text COLLATE "C" NOT NULL,
	"expires_at_ms" bigint,
	"reversed" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"booked_at_ms" bigint
);
--> statement-breakpoint
CREATE INDEX "signed_payments_unbooked" ON "signed_payments" USING btree ("created_at_ms") WHERE booked_at_ms IS NULL;