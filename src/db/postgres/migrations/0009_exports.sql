CREATE TABLE "export_ends" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"hold_id" uuid NOT NULL,
	"position" bigint
);
--> statement-breakpoint
CREATE TABLE "export_numbers" (
	"id" bigint PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "export_positions" (
	"export" text COLLATE "C" NOT NULL,
	"wallet_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "export_positions_export_wallet_id_pk" PRIMARY KEY("export","wallet_id")
);
--> statement-breakpoint
CREATE TABLE "exports" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"ends_position" bigint NOT NULL,
	"searched_to" text COLLATE "C"
);
--> statement-breakpoint
ALTER TABLE "usage_fence" ADD COLUMN "records_ends" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "export_ends_position" ON "export_ends" USING btree ("position");
--> statement-breakpoint
INSERT INTO "export_numbers" VALUES (1, 0);
--> statement-breakpoint
CREATE TYPE "batch_export_end" AS (
	"wallet_id" text,
	"hold_id" uuid
);
