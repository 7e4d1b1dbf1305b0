CREATE TABLE "runs" (
	"key_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"day" bigint NOT NULL,
	CONSTRAINT "runs_key_id_run_id_pk" PRIMARY KEY("key_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "tag_values" (
	"account_id" text COLLATE "C" NOT NULL,
	"day" bigint NOT NULL,
	"tag_key" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	CONSTRAINT "tag_values_account_id_day_tag_key_value_pk" PRIMARY KEY("account_id","day","tag_key","value")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "end_users" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "tag_keys" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "has_scopes" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "runs_key_day" ON "runs" USING btree ("key_id","day");