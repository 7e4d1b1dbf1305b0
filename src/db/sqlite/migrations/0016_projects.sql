CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`archived_at_ms` integer,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_account_name` ON `projects` (`account_id`,`name`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `allows_children` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent_2_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent_3_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent_digest` text;--> statement-breakpoint
CREATE INDEX `api_keys_project` ON `api_keys` (`project_id`) WHERE project_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_parent` ON `api_keys` (`parent_id`,`expires_at_ms`) WHERE parent_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_parent_2` ON `api_keys` (`parent_2_id`) WHERE parent_2_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_parent_3` ON `api_keys` (`parent_3_id`) WHERE parent_3_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_child_end` ON `api_keys` (`expires_at_ms`) WHERE parent_digest IS NOT NULL;
