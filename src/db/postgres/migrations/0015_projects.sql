CREATE TABLE "projects" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"archived_at_ms" bigint,
	"version" bigint DEFAULT 1 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "project_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "allows_children" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "parent_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "parent_2_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "parent_3_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "parent_digest" text COLLATE "C";--> statement-breakpoint
CREATE UNIQUE INDEX "projects_account_name" ON "projects" USING btree ("account_id","name");--> statement-breakpoint
CREATE INDEX "api_keys_project" ON "api_keys" USING btree ("project_id") WHERE project_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_parent" ON "api_keys" USING btree ("parent_id","expires_at_ms") WHERE parent_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_parent_2" ON "api_keys" USING btree ("parent_2_id") WHERE parent_2_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_parent_3" ON "api_keys" USING btree ("parent_3_id") WHERE parent_3_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_child_end" ON "api_keys" USING btree ("expires_at_ms") WHERE parent_digest IS NOT NULL;
