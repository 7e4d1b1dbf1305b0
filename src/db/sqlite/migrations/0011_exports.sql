CREATE TABLE `export_ends` (
	`wallet_id` text NOT NULL,
	`hold_id` text NOT NULL,
	`position` integer
);
--> statement-breakpoint
CREATE INDEX `export_ends_position` ON `export_ends` (`position`);--> statement-breakpoint
CREATE TABLE `export_numbers` (
	`id` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `export_positions` (
	`export` text NOT NULL,
	`wallet_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`export`, `wallet_id`)
);
--> statement-breakpoint
CREATE TABLE `exports` (
	`name` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`ends_position` integer NOT NULL,
	`searched_to` text
);
--> statement-breakpoint
ALTER TABLE `usage_fence` ADD `records_ends` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `export_numbers` VALUES (1, 0);
